//! Tests: which values decide, and which way is the way of a yes.

use interlock_model::ir::{Asked, Block, Name, Op, Root, Term, Value};

use super::{
    super::ast::{Expr, Kind},
    Lowerer,
};
use crate::{
    Shape,
    val::{Val, flag, merge},
};

/// A test that was evaluated.
#[derive(Debug, Default)]
pub(super) struct Test {
    /// The values that decide.
    pub(super) on: Vec<Value>,
    /// The text that is compared with.
    pub(super) equal: Option<Name>,
    /// The texts that are compared with, where any of several will do.
    pub(super) texts: Vec<Name>,
    /// Whether a yes of the comparison is a no of the test.
    pub(super) negated: bool,
    /// Whether a loop counts one of the values.
    pub(super) counted: bool,
    /// What the test always says, if it does.
    pub(super) always: Option<bool>,
}

impl Test {
    /// The step that goes one way or the other.
    pub(super) fn check(self, then: Block, otherwise: Block) -> Op {
        let (then, otherwise) = if self.negated { (otherwise, then) } else { (then, otherwise) };
        let asks = match self.texts.is_empty() {
            true => vec![],
            false => vec![Asked { on: self.on.clone(), texts: self.texts, enough: true }],
        };
        Op::Check { on: self.on, equal: self.equal, asks, then, otherwise }
    }
}

impl<'a> Lowerer<'a> {
    /// Evaluates a test.
    pub(super) fn condition(&mut self, expression: &'a Expr<'a>) -> Test {
        match &expression.kind {
            Kind::Unary("!", inner) => {
                let inner = self.condition(inner);
                Test { negated: !inner.negated, always: inner.always.map(|says| !says), ..inner }
            }
            Kind::Binary(first, rest) => self.tests(first, rest),
            _ => {
                let val = self.expression(expression);
                let always = match val.shape {
                    Shape::Bool(says) => Some(says),
                    _ => None,
                };
                // That there is an error, or that it is of a kind, is a no to whether it worked.
                let negated = fails(expression);
                Test { always: always.filter(|_| val.values.is_empty()), negated, ..self.judge(&val) }
            }
        }
    }

    /// A chain of operators. The parser nests it from the left, by precedence: each operator has all before it on its left.
    pub(super) fn tests(&mut self, first: &'a Expr<'a>, rest: &'a [(&'a str, Expr<'a>)]) -> Test {
        let Some(((operator, right), before)) = rest.split_last() else { return self.condition(first) };
        if matches!(*operator, "&&" | "||") {
            return self.both(first, before, operator, right);
        }
        let left = self.chain(first, before);
        let fails = before.is_empty() && fails(first);
        let right = self.expression(right);
        let (left, right) = match *operator {
            "==" | "!=" => (self.constant(left), self.constant(right)),
            _ => (left, right),
        };
        let mut test = self.judge(&left);
        let other = self.judge(&right);
        merge(&mut test.on, &other.on);
        test.counted |= other.counted;
        if matches!(*operator, "==" | "!=") {
            test.equal = [&left, &right].into_iter().find_map(literal);
            // `x == nil` asks whether there is nothing: a yes is a no to whether there is something; of an error it is the other way.
            let is_no = |val: &Val| val.is_null() || matches!(val.shape, Shape::Bool(false));
            let nothing = [&left, &right].into_iter().any(is_no);
            test.negated = (*operator == "!=") != (nothing != (fails && nothing));
        }
        test
    }

    /// What stands on the left of an operator.
    fn chain(&mut self, first: &'a Expr<'a>, rest: &'a [(&'a str, Expr<'a>)]) -> Val {
        if rest.is_empty() {
            return self.expression(first);
        }
        if rest.iter().any(|(operator, _)| super::expressions::is_test(operator)) {
            let test = self.tests(first, rest);
            return Val::from_values(test.on, 0);
        }
        let mut val = self.expression(first);
        let mut flags = val.flags;
        for (_, right) in rest {
            let right = self.expression(right);
            flags |= right.flags;
            val = Val { flags, ..Val::from_values(val.values, 0) };
            val.depend(&right);
        }
        val
    }

    /// A constant that is compared with gets a name, by which the text is found that another file may give it.
    pub(super) fn constant(&mut self, val: Val) -> Val {
        let named = match (&val.term, &val.shape) {
            (Term::Path(path), Shape::Opaque) if val.values.is_empty() => match &path.root {
                Root::Global(_) => path.clone(),
                _ => return val,
            },
            _ => return val,
        };
        let name = self.last_name(&named);
        // Errors that have a name are no texts.
        if name.starts_with("Err") || name.starts_with("err") || &*name == "EOF" {
            return val;
        }
        let value = self.derive(&name, vec![], Term::Path(named), 0);
        Val::of(value, 0)
    }

    pub(super) fn judge(&mut self, val: &Val) -> Test {
        let on = self.judged(val);
        let counted = on.iter().any(|value| self.flags(*value) & flag::COUNTER != 0);
        Test { counted: counted || val.flags & flag::COUNTER != 0, on, ..Test::default() }
    }

    /// `a && b`, `a || b`: the second is evaluated only one way.
    fn both(
        &mut self,
        first: &'a Expr<'a>,
        before: &'a [(&'a str, Expr<'a>)],
        operator: &str,
        next: &'a Expr<'a>,
    ) -> Test {
        let whole = self.tests(first, before);
        self.stand(next.at);
        let at = self.at;
        let mark = self.mark();
        let opened = self.open(true);
        let second = self.condition(next);
        let block = self.close(opened);
        let changed = self.undo(mark);
        let (mut on, counted) = (whole.on.clone(), whole.counted || second.counted);
        // `!a || !b` is a no to whether both are there, `!a && !b` to whether one is.
        let negated = whole.negated && second.negated;
        if !block.is_empty() {
            let check =
                if operator == "&&" { whole.check(block, vec![]) } else { whole.check(vec![], block) };
            self.push_at(at, check);
        }
        self.join(Some(changed), Some(vec![]));
        merge(&mut on, &second.on);
        Test { on, counted, negated, ..Test::default() }
    }
}

/// Whether an expression stands for what went wrong: an error, or the question whether it is one of a kind.
fn fails(expression: &Expr<'_>) -> bool {
    match &expression.kind {
        Kind::Name(name) | Kind::Selector(_, name) => {
            let name = name.to_ascii_lowercase();
            name.ends_with("err") || name == "error"
        }
        Kind::Call(call) => match &call.callee.kind {
            Kind::Selector(_, "IsNotExist") => true,
            Kind::Selector(package, "Is" | "As") => {
                matches!(package.kind, Kind::Name("errors")) && call.arguments.first().is_some_and(fails)
            }
            _ => false,
        },
        _ => false,
    }
}

/// The text of a literal that is compared with.
fn literal(val: &Val) -> Option<Name> {
    match &val.shape {
        Shape::Text(parts) if val.values.is_empty() => match parts.as_slice() {
            [Term::Literal(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

//! Tests: which values decide, and which way is the way of a yes.

use interlock_model::ir::{Asked, Block, Name, Op, Term, Value};
use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprBoolOp, ExprCompare, UnaryOp};

use super::context::Lowerer;
use crate::{
    Shape,
    asked::{self, Asks, Part},
    val::{Val, flag, merge},
};

/// A test that was evaluated.
#[derive(Debug, Default)]
pub(super) struct Test {
    /// The values that decide.
    pub(super) on: Vec<Value>,
    /// The text that is compared with.
    pub(super) equal: Option<Name>,
    /// What texts it asks for among other things, and of what. A single comparison is one as well.
    pub(super) asks: Asks,
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
        let asks = if self.equal.is_some() { vec![] } else { self.asks };
        let asks = asks.into_iter().map(|(_, asked)| asked).collect();
        Op::Check { on: self.on, equal: self.equal, asks, then, otherwise }
    }

    /// What it asks for, as a part of another test.
    fn part(&self) -> Part<'_> {
        Part { asks: &self.asks, negated: self.negated }
    }
}

impl<'a> Lowerer<'a> {
    /// Evaluates a test.
    pub(super) fn condition(&mut self, expression: &'a Expr) -> Test {
        match expression {
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => {
                let inner = self.condition(&it.operand);
                Test { negated: !inner.negated, always: inner.always.map(|says| !says), ..inner }
            }
            Expr::BoolOp(it) => self.both(it),
            Expr::Compare(it) => self.compared(it),
            _ => {
                let val = self.expression(expression);
                let always = match val.shape {
                    Shape::Bool(says) => Some(says),
                    Shape::Number(number) => Some(number != 0),
                    _ => None,
                };
                Test { always: always.filter(|_| val.values.is_empty()), ..self.judge(&val) }
            }
        }
    }

    /// A comparison as a value.
    pub(super) fn compare(&mut self, it: &'a ExprCompare) -> Val {
        if let ([op], [right], Some(how)) = (&*it.ops, &*it.comparators, it.ops.first().and_then(compared_by))
            && self.is_column(&it.left)
        {
            debug_assert!(!matches!(op, CmpOp::In | CmpOp::NotIn), "what is in a list is no comparison");
            return self.said_to_a_database(how, &[&it.left, right], it);
        }
        let test = self.compared(it);
        Val::from_values(test.on, 0)
    }

    fn compared(&mut self, it: &'a ExprCompare) -> Test {
        let mut whole = Test::default();
        let mut left = &*it.left;
        for (op, right) in it.ops.iter().zip(&it.comparators) {
            let test = self.pair(left, *op, right);
            merge(&mut whole.on, &test.on);
            whole.counted |= test.counted;
            (whole.equal, whole.negated, whole.asks) = (test.equal, test.negated, test.asks);
            left = right;
        }
        if it.ops.len() != 1 {
            (whole.equal, whole.negated, whole.asks) = (None, false, vec![]);
        }
        whole
    }

    fn pair(&mut self, left: &'a Expr, op: CmpOp, right: &'a Expr) -> Test {
        if matches!(op, CmpOp::In | CmpOp::NotIn) {
            let val = self.is_in(left, right);
            let asks = self.listed(left, right);
            return Test { negated: op == CmpOp::NotIn, asks, ..self.judge(&val) };
        }
        let constant = self.constant(left).or_else(|| self.constant(right));
        let left = self.expression(left);
        let right = self.expression(right);
        let mut test = self.judge(&left);
        let other = self.judge(&right);
        merge(&mut test.on, &other.on);
        test.counted |= other.counted;
        if matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot) {
            let written = [&left, &right].into_iter().find_map(literal);
            test.equal = written.or(constant);
            let subject = if literal(&left).is_some() { (&right, &other) } else { (&left, &test) };
            test.asks = match &test.equal {
                Some(text) => {
                    let on = if subject.1.on.is_empty() { test.on.clone() } else { subject.1.on.clone() };
                    vec![(subject.0.term.clone(), Asked { on, texts: vec![text.clone()], enough: true })]
                }
                None => vec![],
            };
            // `x is None` asks whether there is nothing: a yes is a no to whether there is something. So it is with `x is False`.
            let is_no = |val: &Val| val.is_null() || matches!(val.shape, Shape::Bool(false));
            let negated = matches!(op, CmpOp::NotEq | CmpOp::IsNot);
            test.negated = negated != [&left, &right].into_iter().any(is_no);
        }
        test
    }

    /// `name in ("one", "two")`: the texts that are in a list that is written here.
    fn listed(&mut self, subject: &'a Expr, list: &'a Expr) -> Asks {
        let entries = match list {
            Expr::List(it) => it.elts.as_slice(),
            Expr::Tuple(it) => it.elts.as_slice(),
            Expr::Set(it) => it.elts.as_slice(),
            _ => return vec![],
        };
        if entries.is_empty() || !matches!(subject, Expr::Name(_) | Expr::Attribute(_)) {
            return vec![];
        }
        let Some(texts) = entries.iter().map(|entry| self.constant(entry)).collect::<Option<Vec<Name>>>()
        else {
            return vec![];
        };
        let (_, subject) = self.nested(|this| this.expression(subject));
        let on = self.judged(&subject);
        vec![(subject.term, Asked { on, texts, enough: true })]
    }

    /// The text that is written in a place, or under a name that stands for nothing else: `"add"`, `ADD`, `Tools.ADD`, `Tools.ADD.value`.
    pub(super) fn constant(&mut self, expression: &'a Expr) -> Option<Name> {
        let root = match expression {
            Expr::StringLiteral(it) => return Some(it.value.to_str().into()),
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => match &*it.value {
                Expr::Name(class) => class.id.as_str(),
                Expr::Attribute(_) if it.attr.as_str() == "value" => return self.constant(&it.value),
                _ => return None,
            },
            _ => return None,
        };
        let symbol = self.facts.lookup(self.cx.id, root).and_then(|symbol| self.facts.symbol(symbol))?;
        if symbol.function != 0 {
            return None;
        }
        let text = match expression {
            Expr::Attribute(it) => self.facts.member(root, it.attr.as_str()),
            _ => self.facts.constant(root),
        };
        text.map(Name::from)
    }

    pub(super) fn judge(&mut self, val: &Val) -> Test {
        let on = self.judged(val);
        let counted = on.iter().any(|value| self.flags(*value) & flag::COUNTER != 0);
        Test { counted: counted || val.flags & flag::COUNTER != 0, on, ..Test::default() }
    }

    /// `a and b`, `a or b`: the second is evaluated only one way.
    fn both(&mut self, it: &'a ExprBoolOp) -> Test {
        let mut values = it.values.iter();
        let Some(first) = values.next() else { return Test::default() };
        let mut whole = self.condition(first);
        for next in values {
            self.stand(next);
            let at = self.at;
            let mark = self.mark();
            let (block, second) = self.branch(|this| this.condition(next));
            let changed = self.undo(mark);
            let (mut on, counted) = (whole.on.clone(), whole.counted || second.counted);
            // `not a or not b` is a no to whether both are there, `not a and not b` to whether one is.
            let negated = whole.negated && second.negated;
            let asks = asked::together(it.op == BoolOp::And, &whole.part(), &second.part());
            if !block.is_empty() {
                let check = if it.op == BoolOp::And {
                    whole.check(block, vec![])
                } else {
                    whole.check(vec![], block)
                };
                self.push_at(at, check);
            }
            self.join(Some(changed), Some(vec![]));
            merge(&mut on, &second.on);
            whole = Test { on, counted, negated, asks, ..Test::default() };
        }
        whole
    }
}

/// What the comparison of a column is called.
const fn compared_by(op: &CmpOp) -> Option<&'static str> {
    match op {
        CmpOp::Eq => Some("eq"),
        CmpOp::NotEq => Some("ne"),
        CmpOp::Gt => Some("gt"),
        CmpOp::GtE => Some("gte"),
        CmpOp::Lt => Some("lt"),
        CmpOp::LtE => Some("lte"),
        _ => None,
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

//! Tests: which values decide, and which way is the way of a yes.

use interlock_model::ir::{Block, Name, Op, Term, Value};
use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprBoolOp, ExprCompare, UnaryOp};

use super::context::Lowerer;
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
        Op::Check { on: self.on, equal: self.equal, asks: vec![], then, otherwise }
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
            (whole.equal, whole.negated) = (test.equal, test.negated);
            left = right;
        }
        if it.ops.len() != 1 {
            (whole.equal, whole.negated) = (None, false);
        }
        whole
    }

    fn pair(&mut self, left: &'a Expr, op: CmpOp, right: &'a Expr) -> Test {
        if matches!(op, CmpOp::In | CmpOp::NotIn) {
            let val = self.is_in(left, right);
            return Test { negated: op == CmpOp::NotIn, ..self.judge(&val) };
        }
        let left = self.expression(left);
        let right = self.expression(right);
        let mut test = self.judge(&left);
        let other = self.judge(&right);
        merge(&mut test.on, &other.on);
        test.counted |= other.counted;
        if matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot) {
            test.equal = [&left, &right].into_iter().find_map(literal);
            // `x is None` asks whether there is nothing: a yes is a no to whether there is something. So it is with `x is False`.
            let is_no = |val: &Val| val.is_null() || matches!(val.shape, Shape::Bool(false));
            let negated = matches!(op, CmpOp::NotEq | CmpOp::IsNot);
            test.negated = negated != [&left, &right].into_iter().any(is_no);
        }
        test
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
            let mark = self.changes.len();
            let (block, second) = self.branch(|this| this.condition(next));
            let changed = self.undo(mark);
            let (mut on, counted) = (whole.on.clone(), whole.counted || second.counted);
            // `not a or not b` is a no to whether both are there, `not a and not b` to whether one is.
            let negated = whole.negated && second.negated;
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
            whole = Test { on, counted, negated, ..Test::default() };
        }
        whole
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

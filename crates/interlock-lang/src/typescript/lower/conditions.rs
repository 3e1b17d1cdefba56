//! Tests: which values decide, and which way is the way of a yes.

use interlock_model::ir::{Asked, Block, Name, Op, Term, Value};
use oxc_ast::ast::{Argument, ArrayExpressionElement, CallExpression, Expression, LogicalExpression};
use oxc_span::GetSpan;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use super::{
    context::{Lowerer, flag},
    val::{Val, merge},
};
use crate::{
    Shape,
    asked::{self, Asks, Part},
};

/// A test that was evaluated.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    /// The values that decide.
    pub(super) on: Vec<Value>,
    /// The text that is compared with.
    equal: Option<Name>,
    /// What texts it asks for among other things, and of what. A single comparison is one as well.
    asks: Asks,
    /// Whether a yes of the comparison is a no of the test.
    negated: bool,
    /// Whether a loop counts one of the values.
    pub(super) counted: bool,
    /// What the test always says, if it does.
    pub(super) always: Option<bool>,
}

impl Test {
    /// What it asks for, as a part of another test.
    fn part(&self) -> Part<'_> {
        Part { asks: &self.asks, negated: self.negated }
    }

    /// The step that goes one way or the other.
    pub(super) fn check(self, then: Block, otherwise: Block) -> Op {
        let (then, otherwise) = if self.negated { (otherwise, then) } else { (then, otherwise) };
        let asks = if self.equal.is_some() { vec![] } else { self.asks };
        let asks = asks.into_iter().map(|(_, asked)| asked).collect();
        Op::Check { on: self.on, equal: self.equal, asks, then, otherwise }
    }
}

impl<'a> Lowerer<'a> {
    /// Evaluates a test.
    pub(super) fn condition(&mut self, expression: &Expression<'a>) -> Test {
        match expression {
            Expression::UnaryExpression(it) if it.operator == UnaryOperator::LogicalNot => {
                let inner = self.condition(&it.argument);
                Test { negated: !inner.negated, always: inner.always.map(|says| !says), ..inner }
            }
            Expression::ParenthesizedExpression(it) => self.condition(&it.expression),
            Expression::LogicalExpression(it) if it.operator != LogicalOperator::Coalesce => self.both(it),
            Expression::BinaryExpression(it) if is_equality(it.operator) => {
                let left = self.expression(&it.left);
                let right = self.expression(&it.right);
                let negated =
                    matches!(it.operator, BinaryOperator::Inequality | BinaryOperator::StrictInequality);
                let equal = [&left, &right].into_iter().find_map(literal);
                // What kind of thing it is says nothing of its text, but may be that there is none.
                let (absent, equal) = match equal {
                    Some(kind) if is_kind(&it.left) || is_kind(&it.right) => (&*kind == "undefined", None),
                    equal => (false, equal),
                };
                // `x === null` asks whether there is nothing: a yes is a no to whether there is something. So it is with `x === false`.
                let is_no = |val: &Val| val.is_null() || matches!(val.shape, Shape::Bool(false));
                let negated = negated != (absent || [&left, &right].into_iter().any(is_no));
                let mut test = self.judge(&left);
                let other = self.judge(&right);
                let subject =
                    if literal(&left).is_some() { (right.term, &other) } else { (left.term, &test) };
                let asked =
                    |text: &Name| Asked { on: subject.1.on.clone(), texts: vec![text.clone()], enough: true };
                let asks = equal.iter().map(|text| (subject.0.clone(), asked(text))).collect();
                merge(&mut test.on, &other.on);
                test.counted |= other.counted;
                Test { equal, asks, negated, always: None, ..test }
            }
            Expression::CallExpression(it) => {
                let val = self.expression(expression);
                let asks = self.listed(it);
                Test { asks, ..self.judge(&val) }
            }
            Expression::BinaryExpression(it) => {
                if it.operator == BinaryOperator::In || matches!(it.left, Expression::BinaryExpression(_)) {
                    let val = self.expression(expression);
                    let test = self.judge(&val);
                    return if it.operator == BinaryOperator::In { self.answer("has", test) } else { test };
                }
                let left = self.expression(&it.left);
                if it.operator == BinaryOperator::Instanceof && is_always_true(&it.left, &it.right) {
                    return Test::default();
                }
                let mut test = self.judge(&left);
                let right = self.expression(&it.right);
                let other = self.judge(&right);
                merge(&mut test.on, &other.on);
                test.counted |= other.counted;
                let test = Test { always: None, ..test };
                match it.operator {
                    BinaryOperator::Instanceof => self.answer("is", test),
                    _ if is_size(&it.left) && is_several(&right)
                        || is_several(&left) && is_size(&it.right) =>
                    {
                        self.several(test)
                    }
                    _ => test,
                }
            }
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

    fn judge(&mut self, val: &Val) -> Test {
        let on = self.judged(val);
        let counted = on.iter().any(|value| self.flags(*value) & flag::COUNTER != 0);
        Test { counted: counted || val.flags & flag::COUNTER != 0, on, ..Test::default() }
    }

    /// A test that asks something else of the only thing that it judges than whether it is there.
    fn answer(&mut self, name: &'a str, test: Test) -> Test {
        let [_] = test.on.as_slice() else { return test };
        let name = self.names.get(name);
        let answer = self.derive(&name, test.on, Term::Unknown, 0);
        Test { on: vec![answer], ..test }
    }

    /// A test that compares how many there are with more than one: the number is no value, and without a name of its own for the size it would be
    /// asked whether there is anything.
    fn several(&mut self, test: Test) -> Test {
        let [size] = test.on.as_slice() else { return test };
        let name = self.names.get("several");
        let several = self.derive(&name, vec![*size], (*size).into(), 0);
        Test { on: vec![several], ..test }
    }

    /// `a && b`, `a || b`: the second is evaluated only one way.
    fn both(&mut self, logical: &LogicalExpression<'a>) -> Test {
        let first = self.condition(&logical.left);
        self.stand(logical.right.span());
        let at = self.at;
        let mark = self.changes.len();
        let (block, second) = self.branch(|this| this.condition(&logical.right));
        let changed = self.undo(mark);
        let asks = asked::together(logical.operator == LogicalOperator::And, &first.part(), &second.part());
        let (mut on, counted) = (first.on.clone(), first.counted || second.counted);
        // `!a || !b` is a no to whether both are there, `!a && !b` to whether one is.
        let negated = first.negated && second.negated;
        if !block.is_empty() {
            let check = match logical.operator {
                LogicalOperator::And => first.check(block, vec![]),
                LogicalOperator::Or | LogicalOperator::Coalesce => first.check(vec![], block),
            };
            self.push_at(at, check);
        }
        self.join(Some(changed), Some(vec![]));
        merge(&mut on, &second.on);
        Test { on, counted, negated, asks, ..Test::default() }
    }

    /// `["one", "two"].includes(name)`: the texts that are in a list that is written here.
    fn listed(&mut self, call: &CallExpression<'a>) -> Asks {
        let Expression::StaticMemberExpression(member) = &call.callee else { return vec![] };
        let (Expression::ArrayExpression(list), "includes") =
            (member.object.get_inner_expression(), member.property.name.as_str())
        else {
            return vec![];
        };
        let [Argument::Identifier(_) | Argument::StaticMemberExpression(_)] = call.arguments.as_slice()
        else {
            return vec![];
        };
        let text = |element: &ArrayExpressionElement<'a>| match element {
            ArrayExpressionElement::StringLiteral(it) => Some(self.names.get(it.value.as_str())),
            _ => None,
        };
        let Some(texts) = list.elements.iter().map(text).collect::<Option<Vec<Name>>>() else {
            return vec![];
        };
        let Some(subject) = call.arguments.first().and_then(Argument::as_expression) else { return vec![] };
        let subject = self.expression(subject);
        let on = self.judged(&subject);
        vec![(subject.term, Asked { on, texts, enough: true })]
    }
}

fn is_equality(operator: BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::Equality
            | BinaryOperator::StrictEquality
            | BinaryOperator::Inequality
            | BinaryOperator::StrictInequality
    )
}

/// Whether an expression asks what kind of thing something is.
fn is_kind(expression: &Expression<'_>) -> bool {
    matches!(expression.get_inner_expression(), Expression::UnaryExpression(it) if it.operator == UnaryOperator::Typeof)
}

/// Whether an expression asks how many there are: `items.length`.
fn is_size(expression: &Expression<'_>) -> bool {
    let Expression::StaticMemberExpression(member) = expression.get_inner_expression() else { return false };
    matches!(member.property.name.as_str(), "length" | "size")
}

/// Whether something is a number that says more than whether there is anything.
fn is_several(val: &Val) -> bool {
    matches!(val.shape, Shape::Number(number) if number > 1) && val.values.is_empty()
}

/// Whether it says nothing of what a store has answered that something is of a class: what schemas throw comes from elsewhere, and what
/// was caught is an error in any case.
fn is_always_true(thing: &Expression<'_>, class: &Expression<'_>) -> bool {
    let name = match class.get_inner_expression() {
        Expression::Identifier(id) => id.name.as_str(),
        Expression::StaticMemberExpression(member) => member.property.name.as_str(),
        _ => return false,
    };
    match (name, thing.get_inner_expression()) {
        ("ZodError" | "$ZodError" | "ValiError" | "ValidationError" | "SchemaError", _) => true,
        ("Error", Expression::Identifier(id)) => matches!(id.name.as_str(), "error" | "err" | "e" | "ex"),
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

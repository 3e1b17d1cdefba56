//! `a ?? b`: `(_a = a) !== null && _a !== void 0 ? _a : b`, where engines do not know it.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{BinaryExpression, ConditionalExpression, Expression, LogicalExpression};
use oxc_syntax::operator::{BinaryOperator, LogicalOperator};

use super::Restorer;

impl<'a> Restorer<'a> {
    pub(super) fn nullish(&self, it: &mut ConditionalExpression<'a>) -> Option<Expression<'a>> {
        let Expression::LogicalExpression(both) = &mut it.test else { return None };
        let LogicalExpression { left, operator: LogicalOperator::And, right, .. } = &mut **both else {
            return None;
        };
        let (Expression::BinaryExpression(first), Expression::BinaryExpression(second)) = (left, right)
        else {
            return None;
        };
        let name = name_of(&it.consequent)?;
        let asks = differs(first)
            && matches!(first.right, Expression::NullLiteral(_))
            && differs(second)
            && second.right.is_void_0()
            && name_of(&second.left) == Some(name);
        let value = match &mut first.left {
            Expression::AssignmentExpression(kept) if kept.operator.is_assign() => {
                (kept.left.get_identifier_name() == Some(name)).then_some(&mut kept.right)
            }
            other => (name_of(other) == Some(name)).then_some(other),
        };
        let value = value.filter(|_| asks)?.take_in(&self.builder);
        let otherwise = it.alternate.take_in(&self.builder);
        let coalesce = LogicalOperator::Coalesce;
        Some(Expression::new_logical_expression(it.span, value, coalesce, otherwise, &self.builder))
    }
}

fn differs(it: &BinaryExpression<'_>) -> bool {
    it.operator == BinaryOperator::StrictInequality
}

fn name_of<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    match expression {
        Expression::Identifier(id) => Some(id.name.as_str()),
        _ => None,
    }
}

//! Fields of classes: `__publicField(this, "name", value)` is `this.name = value`.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{
    Argument, AssignmentOperator, AssignmentTarget, CallExpression, Expression, IdentifierName,
};
use oxc_syntax::operator::UnaryOperator;

use super::Restorer;

impl<'a> Restorer<'a> {
    pub(super) fn field(&self, call: &mut CallExpression<'a>) -> Option<Expression<'a>> {
        let Expression::Identifier(helper) = &call.callee else { return None };
        if !matches!(helper.name.as_str(), "__publicField" | "_define_property" | "_defineProperty") {
            return None;
        }
        let (span, builder) = (call.span, &self.builder);
        let [object, Argument::StringLiteral(name), value] = call.arguments.as_mut_slice() else {
            return None;
        };
        let (object, value) = (object.as_expression_mut()?, value.as_expression_mut()?);
        // A field that is only declared has no value yet, and whoever gives it one gives it its first.
        if matches!(value, Expression::UnaryExpression(it) if it.operator == UnaryOperator::Void) {
            return Some(Expression::new_void_0(span, builder));
        }
        let name = IdentifierName::new(name.span, name.value, builder);
        let field = AssignmentTarget::new_static_member_expression(
            span,
            object.take_in(builder),
            name,
            false,
            builder,
        );
        let value = value.take_in(builder);
        Some(Expression::new_assignment_expression(span, AssignmentOperator::Assign, field, value, builder))
    }
}

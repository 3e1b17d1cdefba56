//! Decorators that announce methods to clients: `@Tool({ name: "add" }) async add(…)`.

use oxc_ast::ast::{CallExpression, Expression, MethodDefinition};

use crate::typescript::module::is_announcement;

/// Those of a method.
pub(in super::super) fn announced<'m, 'a>(
    method: &'m MethodDefinition<'a>,
) -> impl Iterator<Item = &'m CallExpression<'a>> {
    method.decorators.iter().filter_map(|decorator| match &decorator.expression {
        Expression::CallExpression(call) => match &call.callee {
            Expression::Identifier(id) if is_announcement(&id.name) => Some(&**call),
            _ => None,
        },
        _ => None,
    })
}

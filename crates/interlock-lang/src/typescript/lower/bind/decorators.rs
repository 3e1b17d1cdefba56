//! Decorators that announce methods and classes to clients: `@Tool({ name: "add" }) async add(…)`.

use oxc_ast::ast::{CallExpression, Decorator, Expression};

use crate::module::is_announcement;

/// Those among some decorators.
pub(in super::super) fn announced<'m, 'a>(
    decorators: &'m [Decorator<'a>],
) -> impl Iterator<Item = &'m CallExpression<'a>> {
    decorators.iter().filter_map(|decorator| match &decorator.expression {
        Expression::CallExpression(call) => match &call.callee {
            Expression::Identifier(id) if is_announcement(&id.name) => Some(&**call),
            _ => None,
        },
        _ => None,
    })
}

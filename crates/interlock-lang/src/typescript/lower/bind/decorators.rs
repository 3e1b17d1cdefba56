//! Decorators that announce methods and classes to clients: `@Tool({ name: "add" }) async add(…)`.

use oxc_ast::ast::{CallExpression, Decorator, Expression};

use crate::typescript::tables;

/// Those among some decorators.
pub(in super::super) fn announced<'m, 'a>(
    decorators: &'m [Decorator<'a>],
) -> impl Iterator<Item = &'m CallExpression<'a>> {
    decorators.iter().filter_map(|decorator| match &decorator.expression {
        Expression::CallExpression(call) => match &call.callee {
            Expression::Identifier(id) if may_announce(&id.name) => Some(&**call),
            _ => None,
        },
        _ => None,
    })
}

/// Whether a decorator may announce something: it is one of those that are known, or speaks of tools. Which it is, the tables say that a
/// tree is linked with, to which users add.
fn may_announce(name: &str) -> bool {
    tables().sdk().decorator.contains_key(name) || name.contains("Tool")
}

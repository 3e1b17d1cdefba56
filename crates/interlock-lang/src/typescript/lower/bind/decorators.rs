//! Decorators that may announce methods and classes to clients: `@Tool({ name: "add" }) async add(…)`. Which do, the tables say that a tree
//! is linked with, to which users add, and what decorators of the tree itself do.

use oxc_ast::ast::{CallExpression, Decorator, Expression};

/// Those among some decorators.
pub(in super::super) fn announced<'m, 'a>(
    decorators: &'m [Decorator<'a>],
) -> impl Iterator<Item = &'m CallExpression<'a>> {
    decorators.iter().filter_map(|decorator| match &decorator.expression {
        Expression::CallExpression(call) if matches!(call.callee, Expression::Identifier(_)) => Some(&**call),
        _ => None,
    })
}

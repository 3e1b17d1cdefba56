//! Modules that are loaded when they are needed: `Promise.resolve().then(() => __importStar(require("x")))` is `import("x")`.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{Argument, ArrowFunctionBody, CallExpression, Expression};

use super::{super::lower::required, Restorer};

impl<'a> Restorer<'a> {
    pub(super) fn import(&self, call: &mut CallExpression<'a>) -> Option<Expression<'a>> {
        let Expression::StaticMemberExpression(then) = &mut call.callee else { return None };
        if then.property.name != "then" {
            return None;
        }
        let settled = settled(&mut then.object)?;
        let [Argument::ArrowFunctionExpression(arrow)] = call.arguments.as_slice() else { return None };
        let ArrowFunctionBody::CallExpression(inner) = &arrow.body else { return None };
        let (span, builder) = (call.span, &self.builder);
        let source = match (settled, required(inner)) {
            ([], Some(from)) => Expression::new_string_literal(span, from, None, builder),
            // `Promise.resolve(`${name}`).then(s => require(s))`.
            ([name], None) if is_require_of_what_it_is_given(inner) => {
                name.as_expression_mut()?.take_in(builder)
            }
            _ => return None,
        };
        Some(Expression::new_import_expression(span, source, None, None, builder))
    }
}

/// What is in the parentheses of `Promise.resolve()`.
fn settled<'e, 'a>(expression: &'e mut Expression<'a>) -> Option<&'e mut [Argument<'a>]> {
    let Expression::CallExpression(call) = expression else { return None };
    let Expression::StaticMemberExpression(member) = &call.callee else { return None };
    let is_promise = matches!(&member.object, Expression::Identifier(id) if id.name == "Promise");
    (is_promise && member.property.name == "resolve").then(|| call.arguments.as_mut_slice())
}

/// `require(s)`, with what compilers put around it.
fn is_require_of_what_it_is_given(call: &CallExpression<'_>) -> bool {
    match (&call.callee, call.arguments.as_slice()) {
        (Expression::Identifier(id), [Argument::Identifier(_)]) => id.name == "require",
        (_, [Argument::CallExpression(inner)]) => is_require_of_what_it_is_given(inner),
        _ => false,
    }
}

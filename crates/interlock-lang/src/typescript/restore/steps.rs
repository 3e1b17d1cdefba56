//! Async functions: `__awaiter(this, void 0, void 0, function* () { yield x })` is one that waits for `x`.

use oxc_allocator::{Box, TakeIn, Vec};
use oxc_ast::{
    ast::{
        Argument, ArrayExpressionElement, ArrowFunctionBody, CallExpression, Expression, FormalParameters,
        FunctionBody, Statement,
    },
    builder::AstBuilder,
};
use oxc_ast_visit::VisitJsMut;

use super::Restorer;

/// What a helper runs: what it is handed, if anything, and the steps.
pub(super) struct Steps<'a> {
    pub(super) parameters: Box<'a, FormalParameters<'a>>,
    pub(super) body: Box<'a, FunctionBody<'a>>,
}

impl<'a> Restorer<'a> {
    /// What a function runs that does nothing but return what a helper gives.
    pub(super) fn returned(&self, body: &mut FunctionBody<'a>) -> Option<Steps<'a>> {
        let [Statement::ReturnStatement(only)] = body.statements.as_mut_slice() else { return None };
        let Some(Expression::CallExpression(call)) = &mut only.argument else { return None };
        self.steps(call)
    }

    /// What a helper runs, taken out of the call.
    pub(super) fn steps(&self, call: &mut CallExpression<'a>) -> Option<Steps<'a>> {
        let call = match &mut call.callee {
            // `_async_to_generator(function* () { … })()`, or `.call(this)` of it.
            Expression::CallExpression(inner) => inner,
            Expression::StaticMemberExpression(member)
                if matches!(member.property.name.as_str(), "call" | "apply") =>
            {
                match &mut member.object {
                    Expression::CallExpression(inner) => inner,
                    _ => return None,
                }
            }
            _ => call,
        };
        if !is_helper(&call.callee) {
            return None;
        }
        let Some(Argument::FunctionExpression(generator)) = call.arguments.last_mut() else { return None };
        if !generator.generator {
            return None;
        }
        let body = generator.body.take()?;
        Some(Steps { parameters: generator.params.take_in_box(&self.builder), body })
    }

    /// Among other statements it stays a function, which is called at once.
    pub(super) fn called_at_once(&mut self, call: &mut CallExpression<'a>) -> Option<Expression<'a>> {
        let Steps { parameters, mut body } = self.steps(call)?;
        self.inside(true, |this| this.visit_function_body(&mut body));
        let (span, handed, builder) = (call.span, handed(call, &self.builder), &self.builder);
        let body = ArrowFunctionBody::FunctionBody(body);
        let function =
            Expression::new_arrow_function_expression(span, true, None, parameters, None, body, builder);
        Some(Expression::new_call_expression(span, function, None, handed, false, builder))
    }
}

/// What TypeScript, esbuild, SWC and Babel call the function that runs a generator as if it were async.
fn is_helper(callee: &Expression<'_>) -> bool {
    let name = match callee {
        Expression::Identifier(id) => id.name.as_str(),
        Expression::StaticMemberExpression(member) if member.property.name == "_" => {
            return is_helper(&member.object);
        }
        Expression::StaticMemberExpression(member) => member.property.name.as_str(),
        _ => return false,
    };
    matches!(name, "__awaiter" | "__async" | "_async_to_generator" | "_asyncToGenerator")
}

/// Parameters that take a value apart stand with the steps, and the function has plain ones in their place.
pub(super) fn hand_over<'a>(own: &mut FormalParameters<'a>, mut inner: Box<'a, FormalParameters<'a>>) {
    if !inner.items.is_empty() {
        std::mem::swap(&mut own.items, &mut inner.items);
        std::mem::swap(&mut own.rest, &mut inner.rest);
    }
}

/// What a helper hands to the steps: `_a` in `__awaiter(void 0, [_a], void 0, function* ({ id }) { … })`.
fn handed<'a>(call: &mut CallExpression<'a>, builder: &AstBuilder<'a>) -> Vec<'a, Argument<'a>> {
    let mut handed = Vec::new_in(builder);
    if let Some(Argument::ArrayExpression(list)) = call.arguments.get_mut(1) {
        let elements = list.elements.take_in(builder);
        handed.extend(elements.into_iter().filter_map(|element| match element {
            ArrayExpressionElement::Identifier(id) => Some(Argument::Identifier(id)),
            _ => None,
        }));
    }
    handed
}

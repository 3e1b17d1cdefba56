//! Forms of expressions that locks are made of.

use oxc_ast::ast::{ArrowFunctionBody, Expression, Statement};

use super::places::{argument, method};
use crate::typescript::lower::{
    bind::{meaning_of, symbol_of},
    logging::is_logging,
};

/// How long a chain is followed.
const DEEPEST: usize = 12;

/// `new Promise((r) => { release = r; })`: the variable that settles it.
pub(super) fn gate(expression: &Expression<'_>) -> Option<u32> {
    let Expression::NewExpression(new) = expression.get_inner_expression() else { return None };
    if !matches!(&new.callee, Expression::Identifier(id) if id.name == "Promise") {
        return None;
    }
    let executor = new.arguments.first()?.as_expression()?;
    let (parameters, inner) = match executor.get_inner_expression() {
        Expression::ArrowFunctionExpression(it) => match &it.body {
            ArrowFunctionBody::FunctionBody(body) => (&it.params, first_expression(&body.statements)?),
            other => (&it.params, other.as_expression()?),
        },
        Expression::FunctionExpression(it) => (&it.params, first_expression(&it.body.as_ref()?.statements)?),
        _ => return None,
    };
    let resolve = symbol_of(&parameters.items.first()?.pattern.get_binding_identifier()?.symbol_id)?;
    let Expression::AssignmentExpression(assignment) = inner.get_inner_expression() else { return None };
    let oxc_ast::ast::AssignmentTarget::AssignmentTargetIdentifier(target) = &assignment.left else {
        return None;
    };
    match assignment.right.get_inner_expression() {
        Expression::Identifier(id) if meaning_of(&id.reference_id) == Some(resolve) => {
            meaning_of(&target.reference_id)
        }
        _ => None,
    }
}

/// Whether a function deals with every failure of its own: all it does stands in a `try` whose `catch` does not throw.
pub(super) fn never_fails(function: &Expression<'_>) -> bool {
    let statements = match function.get_inner_expression() {
        Expression::ArrowFunctionExpression(it) => match &it.body {
            ArrowFunctionBody::FunctionBody(body) => &body.statements,
            _ => return false,
        },
        Expression::FunctionExpression(it) => match &it.body {
            Some(body) => &body.statements,
            None => return false,
        },
        _ => return false,
    };
    let deals_with = |statement: &Statement<'_>| match statement {
        Statement::TryStatement(it) => {
            let throws = |inner: &Statement<'_>| throws(inner, 0);
            it.handler.as_ref().is_some_and(|catch| !catch.body.body.iter().any(throws))
                && it.finalizer.as_ref().is_none_or(|block| block.body.iter().all(is_plain))
        }
        other => is_plain(other),
    };
    let tries = |statement: &Statement<'_>| matches!(statement, Statement::TryStatement(_));
    statements.iter().any(tries) && statements.iter().all(deals_with)
}

/// A statement that keeps what is there already, or tells a log.
fn is_plain(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ExpressionStatement(it) => match it.expression.get_inner_expression() {
            Expression::AssignmentExpression(it) => is_there(&it.right),
            Expression::UpdateExpression(_) => true,
            Expression::CallExpression(call) => is_logging(call),
            _ => false,
        },
        // What is taken apart may not be there to be.
        Statement::VariableDeclaration(it) => it
            .declarations
            .iter()
            .all(|it| it.id.get_binding_identifier().is_some() && it.init.as_ref().is_none_or(is_there)),
        Statement::ReturnStatement(it) => it.argument.as_ref().is_none_or(Expression::is_literal),
        Statement::EmptyStatement(_) => true,
        _ => false,
    }
}

/// What is only named: a constant, a variable, a field of the object itself. To name it cannot fail.
fn is_there(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::Identifier(_) => true,
        Expression::StaticMemberExpression(it) => {
            matches!(it.object.get_inner_expression(), Expression::ThisExpression(_))
        }
        Expression::PrivateFieldExpression(it) => {
            matches!(it.object.get_inner_expression(), Expression::ThisExpression(_))
        }
        other => other.is_literal() || other.is_null_or_undefined(),
    }
}

fn throws(statement: &Statement<'_>, depth: usize) -> bool {
    match statement {
        Statement::ThrowStatement(_) => true,
        _ if depth > DEEPEST => true,
        Statement::BlockStatement(it) => it.body.iter().any(|inner| throws(inner, depth + 1)),
        Statement::IfStatement(it) => {
            throws(&it.consequent, depth + 1)
                || it.alternate.as_ref().is_some_and(|other| throws(other, depth + 1))
        }
        Statement::ReturnStatement(it) => it.argument.as_ref().is_some_and(|it| !it.is_literal()),
        _ => false,
    }
}

pub(super) fn parameters_of(function: &Expression<'_>) -> Vec<u32> {
    let parameters = match function.get_inner_expression() {
        Expression::ArrowFunctionExpression(it) => &it.params,
        Expression::FunctionExpression(it) => &it.params,
        _ => return vec![],
    };
    let names = parameters.items.iter().filter_map(|it| it.pattern.get_binding_identifier());
    names.filter_map(|id| symbol_of(&id.symbol_id)).collect()
}

pub(super) fn first_expression<'t, 'a>(statements: &'t [Statement<'a>]) -> Option<&'t Expression<'a>> {
    match statements {
        [Statement::ExpressionStatement(it)] => Some(&it.expression),
        _ => None,
    }
}

/// What a chain of `then`, `catch` and `finally` starts from, and whether a failure stops somewhere in it.
pub(super) fn hangs_on<'t, 'a>(expression: &'t Expression<'a>) -> (&'t Expression<'a>, bool) {
    let (mut expression, mut swallows) = (expression, false);
    for _ in 0..DEEPEST {
        let Some((object, name, call)) = method(expression) else { break };
        match name {
            "catch" => swallows = true,
            "then" => swallows |= argument(call, 1).is_some(),
            "finally" => {}
            _ => break,
        }
        expression = object;
    }
    (expression, swallows)
}

/// The variable that a chain starts from, and whether a failure stops in it.
pub(super) fn derived_from(expression: &Expression<'_>) -> Option<(u32, bool)> {
    let (_, name, _) = method(expression)?;
    let (root, swallows) = hangs_on(expression);
    match root.get_inner_expression() {
        Expression::Identifier(id) if matches!(name, "then" | "catch" | "finally") => {
            Some((meaning_of(&id.reference_id)?, swallows))
        }
        _ => None,
    }
}

/// `previous.catch(() => {})` is `previous`, as far as waiting goes.
pub(super) fn without_rescue<'t, 'a>(expression: &'t Expression<'a>) -> &'t Expression<'a> {
    match method(expression) {
        Some((object, "catch", _)) => object,
        _ => expression,
    }
}

pub(super) fn timer_body<'t, 'a>(expression: &'t Expression<'a>) -> Option<&'t Expression<'a>> {
    let Expression::CallExpression(call) = expression else { return None };
    match &call.callee {
        Expression::Identifier(id) if matches!(id.name.as_str(), "setTimeout" | "setInterval") => {
            argument(call, 0)
        }
        _ => None,
    }
}

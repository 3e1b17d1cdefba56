//! Small questions about expressions.

use oxc_ast::ast::{Argument, CallExpression, Expression, Statement};

/// The last name of what is called: `writeFile` of `fs.promises.writeFile`.
pub(super) fn last_name<'e>(callee: &'e Expression<'_>) -> Option<&'e str> {
    match callee {
        Expression::Identifier(name) => Some(name.name.as_str()),
        Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
        _ => None,
    }
}

/// The arguments, unless some of them are spread.
pub(super) fn arguments<'e, 'a>(call: &'e CallExpression<'a>) -> Option<Vec<&'e Expression<'a>>> {
    call.arguments.iter().map(Argument::as_expression).collect()
}

/// The call itself, or behind an `await`.
pub(super) fn awaited_call<'e, 'a>(expression: &'e Expression<'a>) -> Option<(&'e CallExpression<'a>, bool)> {
    match expression {
        Expression::CallExpression(call) => Some((call, false)),
        Expression::AwaitExpression(awaited) => match &awaited.argument {
            Expression::CallExpression(call) => Some((call, true)),
            _ => None,
        },
        _ => None,
    }
}

/// The call that a statement consists of.
pub(super) fn called<'e, 'a>(statement: &'e Statement<'a>) -> Option<&'e CallExpression<'a>> {
    match statement {
        Statement::ExpressionStatement(statement) => {
            awaited_call(&statement.expression).map(|(call, _)| call)
        }
        _ => None,
    }
}

/// Whether an expression is a name, or a path of names: it may be written twice.
pub(super) fn is_plain(expression: &Expression<'_>) -> bool {
    let mut at = expression;
    loop {
        at = match at {
            Expression::Identifier(_) | Expression::ThisExpression(_) => return true,
            Expression::StaticMemberExpression(member) if !member.optional => &member.object,
            Expression::PrivateFieldExpression(member) if !member.optional => &member.object,
            _ => return false,
        };
    }
}

/// Whether a statement always leaves the list that it stands in.
pub(super) fn leaves(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(_)
        | Statement::ThrowStatement(_)
        | Statement::ContinueStatement(_)
        | Statement::BreakStatement(_) => true,
        Statement::BlockStatement(block) => block.body.last().is_some_and(leaves),
        _ => false,
    }
}

/// Where a text stands as a word of its own.
pub(super) fn occurrences<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(word).map(|(index, _)| index).filter(move |index| {
        let before = text.get(..*index).and_then(|before| before.chars().next_back());
        let behind = text.get(index + word.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(|c| is_part(c) || c == '.') && !behind.is_some_and(is_part)
    })
}

/// Whether one of the names in an expression is given another value in a text.
pub(super) fn reassigned(text: &str, expression: &str) -> bool {
    let words = expression.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    words.filter(|word| !word.is_empty()).any(|word| {
        occurrences(text, word).any(|index| {
            let behind = text.get(index + word.len()..).unwrap_or_default().trim_start();
            let operator: String = behind.chars().take_while(|c| "=+-*/%&|^?<>!".contains(*c)).collect();
            let compares = ["==", "===", "=>", "<=", ">=", "!=", "!=="].contains(&operator.as_str());
            operator == "++" || operator == "--" || (operator.ends_with('=') && !compares)
        })
    })
}

//! What is only told: messages for a log. Nobody else's call depends on them, and loggers are called from everywhere, so that following
//! them would be most of the work. What an argument does besides being a message still counts.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, CallExpression, ChainElement, Expression, ObjectPropertyKind,
    UnaryOperator,
};

use super::{super::tables, bind::meaning_of, calls::Use, context::Lowerer, val::Val};

impl<'a> Lowerer<'a> {
    /// A message that goes to a log, with nobody waiting for it.
    pub(super) fn lower_logging(&mut self, call: &CallExpression<'a>, wanted: Use) -> Option<Val> {
        let is_told = match wanted {
            Use::Nothing => is_log(&call.callee),
            Use::Returned | Use::Value => is_console(&call.callee),
            Use::Awaited => false,
        };
        if !is_told {
            return None;
        }
        for argument in call.arguments.iter().filter(|argument| !only_names(argument)) {
            self.spread_or_expression(argument);
        }
        Some(Val::nothing())
    }
}

/// Whether a call does nothing but write a message to a log.
pub(super) fn is_logging(call: &CallExpression<'_>) -> bool {
    is_log(&call.callee) && call.arguments.iter().all(only_names)
}

/// Whether a function writes to a log: `console.error`, `this.logger.info`, `log`, `logWarning`.
fn is_log(callee: &Expression<'_>) -> bool {
    match callee {
        Expression::Identifier(id) => {
            is_level(id.name.strip_prefix("log").unwrap_or_default()) || id.name == "log"
        }
        Expression::StaticMemberExpression(member) => {
            is_level(&member.property.name) && last_name(&member.object).is_some_and(is_logger)
                || is_console(callee)
        }
        // `logger[level]("…")`: whichever it is.
        Expression::ComputedMemberExpression(member) => {
            last_name(&member.object).is_some_and(is_logger) && names(&member.expression)
                || is_console(callee)
        }
        _ => false,
    }
}

/// Whether a function is one of the platform's console.
fn is_console(callee: &Expression<'_>) -> bool {
    let object = match callee {
        Expression::StaticMemberExpression(member) => &member.object,
        Expression::ComputedMemberExpression(member) if names(&member.expression) => &member.object,
        _ => return false,
    };
    match object {
        Expression::Identifier(id) => id.name == "console" && meaning_of(&id.reference_id).is_none(),
        _ => false,
    }
}

fn is_level(name: &str) -> bool {
    tables().lexicon().log_levels.iter().any(|level| level.eq_ignore_ascii_case(name))
}

/// Whether something goes by the name of a logger: `log`, `appLogger`, `mcpLog`, `logWrapper`; not a `login` or a `catalog`.
fn is_logger(name: &str) -> bool {
    let begins =
        |rest: &str| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    name.strip_prefix("log").is_some_and(begins)
        || name.get(name.len().saturating_sub(6)..).is_some_and(|last| last.eq_ignore_ascii_case("logger"))
        || ["Log", "_log", "logging", "Logging"].iter().any(|end| name.ends_with(end))
}

/// The name that something goes by: of a variable or of a member.
fn last_name<'e>(expression: &'e Expression<'_>) -> Option<&'e str> {
    match expression {
        Expression::Identifier(id) => Some(&id.name),
        Expression::StaticMemberExpression(member) => Some(&member.property.name),
        Expression::PrivateFieldExpression(member) => Some(&member.field.name),
        Expression::ChainExpression(chain) => match &chain.expression {
            ChainElement::StaticMemberExpression(member) => Some(&member.property.name),
            _ => None,
        },
        Expression::TSNonNullExpression(it) => last_name(&it.expression),
        _ => None,
    }
}

/// Whether an argument does nothing but name what is told.
fn only_names(argument: &Argument<'_>) -> bool {
    match argument {
        Argument::SpreadElement(spread) => names(&spread.argument),
        other => other.as_expression().is_some_and(names),
    }
}

fn names(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(_)
        | Expression::StringLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::ThisExpression(_) => true,
        Expression::TemplateLiteral(template) => template.expressions.iter().all(names),
        Expression::StaticMemberExpression(member) => names(&member.object),
        Expression::ComputedMemberExpression(member) => names(&member.object) && names(&member.expression),
        Expression::BinaryExpression(it) => names(&it.left) && names(&it.right),
        Expression::LogicalExpression(it) => names(&it.left) && names(&it.right),
        Expression::ConditionalExpression(it) => {
            names(&it.test) && names(&it.consequent) && names(&it.alternate)
        }
        Expression::UnaryExpression(it) => it.operator != UnaryOperator::Delete && names(&it.argument),
        Expression::ParenthesizedExpression(it) => names(&it.expression),
        Expression::TSAsExpression(it) => names(&it.expression),
        Expression::TSNonNullExpression(it) => names(&it.expression),
        Expression::ObjectExpression(object) => object.properties.iter().all(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => !it.computed && names(&it.value),
            ObjectPropertyKind::SpreadProperty(it) => names(&it.argument),
        }),
        Expression::ArrayExpression(array) => array.elements.iter().all(|element| match element {
            ArrayExpressionElement::SpreadElement(it) => names(&it.argument),
            other => other.as_expression().is_none_or(names),
        }),
        _ => false,
    }
}

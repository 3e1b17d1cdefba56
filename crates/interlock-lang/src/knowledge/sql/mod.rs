//! SQL in strings: what a text does to which rows.
//!
//! `parse.rs` is the only file that names the parser's entry points; `lower.rs`, `declare.rs` and `expression.rs` read its tree.

mod parse;
mod seen;

mod declare;
mod expression;
mod lower;

use std::sync::Arc;

use interlock_model::ir::{Isolation, Term};

use crate::{Arg, Shape};

use super::{format::Engine, statement::Statement};

pub use declare::tables_of;
pub(super) use lower::{assignments, condition};
pub use seen::Seen;

/// What one text says, in order.
#[derive(Debug, Clone)]
pub(super) enum Said {
    Statement(Statement),
    Begin(Isolation),
    Commit,
    Rollback,
    /// A lock by number or name, held until the session or the transaction ends; which of the two is the name.
    Lock {
        name: &'static str,
        key: Term,
        tried: bool,
    },
    Unlock {
        name: &'static str,
        key: Term,
    },
}

/// The parameters that a text's placeholders stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters<'p> {
    /// By position.
    pub(super) list: Vec<&'p Arg>,
    /// By name.
    pub(super) named: Option<&'p Arg>,
    /// Where neither is written out: all of them.
    pub(super) opaque: Option<&'p Arg>,
}

/// How many places a text has for parameters that go by their order: `?` or `%s`.
pub(super) fn count_marks(parts: &[Term]) -> usize {
    let texts = parts.iter().map(|part| match part {
        Term::Literal(text) => text,
        _ => "",
    });
    texts.map(|text| text.matches('?').count() + text.matches("%s").count()).sum()
}

/// Whether an argument is text that starts like a statement.
pub(super) fn looks_like_sql(arg: &Arg) -> bool {
    let Shape::Text(parts) = &arg.shape else { return false };
    let Some(Term::Literal(first)) = parts.first() else { return false };
    let mut words =
        behind_comments(first).split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let verbs =
        ["select", "insert", "update", "delete", "with", "replace", "begin", "commit", "rollback", "merge"];
    let verb = words.next().unwrap_or_default().to_ascii_lowercase();
    if matches!(verb.as_str(), "create" | "start" | "set" | "pragma") {
        return words.next().is_some_and(|word| {
            ["table", "transaction", "temp", "unique", "index", "session"]
                .contains(&word.to_ascii_lowercase().as_str())
        });
    }
    verbs.contains(&verb.as_str())
}

/// What stands behind the comments at the beginning: `-- name: GetAccount :one`.
fn behind_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match rest.strip_prefix("--") {
            Some(line) => line.split_once('\n').map(|(_, behind)| behind),
            None => {
                rest.strip_prefix("/*").and_then(|block| block.split_once("*/")).map(|(_, behind)| behind)
            }
        };
        let Some(behind) = behind else { return rest };
        rest = behind.trim_start();
    }
}

/// What a text with holes does; `None` if it is no SQL that is understood. What was seen before is not parsed again.
pub(super) fn read(
    parts: &[Term],
    parameters: &Parameters<'_>,
    engine: Option<Engine>,
    seen: Option<&Seen>,
) -> Option<Vec<Said>> {
    let text = parse::Text::of(parts)?;
    let statements = match seen {
        Some(seen) => seen.parsed(&text, engine),
        None => parse::parse(&text, engine).map(Arc::new),
    };
    match statements {
        Some(statements) => Some(lower::lower(&statements, &text, parameters, engine)),
        None => parse::glance(&text).map(|statement| vec![Said::Statement(statement)]),
    }
}

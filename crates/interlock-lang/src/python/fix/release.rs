//! `lock.acquire()` … `lock.release()` in one list of statements: a `with` around what stands between.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::suites::{around, holds, indent, slice};
use crate::Edit;

/// How a block is indented.
const INDENT: &str = "    ";

/// A call without arguments that is a statement: of what, by which name, and whether it is waited for.
fn called(statement: &Stmt) -> Option<(&Expr, &str, bool)> {
    let Stmt::Expr(it) = statement else { return None };
    let (call, awaited) = match &*it.value {
        Expr::Await(it) => (it.value.as_call_expr()?, true),
        Expr::Call(it) => (it, false),
        _ => return None,
    };
    let Expr::Attribute(method) = &*call.func else { return None };
    call.arguments.is_empty().then(|| (&*method.value, method.attr.as_str(), awaited))
}

pub(super) fn change(text: &str, body: &[Stmt], place: u32) -> Option<Vec<Edit>> {
    let suites = around(body, place);
    let suite = suites.last()?;
    let taken = suite.iter().position(|statement| {
        holds(statement.range(), place) && called(statement).is_some_and(|(_, name, _)| name == "acquire")
    })?;
    let (lock, _, awaited) = called(suite.get(taken)?)?;
    let lock = slice(text, lock.range());
    let behind = suite.get(taken + 1..)?;
    let given = behind.iter().position(|statement| {
        called(statement).is_some_and(|(of, name, _)| name == "release" && slice(text, of.range()) == lock)
    })?;
    let between = behind.get(..given)?;
    let (first, last) = (between.first()?, between.last()?);
    let (acquire, release) = (suite.get(taken)?.range(), behind.get(given)?.range());
    let inside = TextRange::new(first.range().start(), last.range().end());
    let written = slice(text, inside);
    // A text of several lines would change with its indentation, and another release means more than one way out.
    if ["\"\"\"", "'''", "\\\n", &format!("{lock}.release")].iter().any(|hard| written.contains(hard)) {
        return None;
    }
    indent(text, acquire.start().into())?;
    let before = indent(text, release.start().into())?;
    let word = if awaited { "async with" } else { "with" };
    let mut edits =
        vec![Edit::replace(acquire.start().into(), acquire.end().into(), format!("{word} {lock}:"))];
    let begin = u32::from(inside.start());
    edits.push(Edit::insert(begin, INDENT));
    for (at, _) in written.match_indices('\n') {
        let next = at + 1;
        let is_empty = written.get(next..).is_some_and(|rest| rest.starts_with('\n'));
        if !is_empty {
            edits.push(Edit::insert(begin + u32::try_from(next).ok()?, INDENT));
        }
    }
    // The line of the release goes with it.
    let start = u32::from(release.start()) - u32::try_from(before.len()).ok()?;
    let line_end = text.get(release.end().to_usize()..).is_some_and(|rest| rest.starts_with('\n'));
    edits.push(Edit::replace(start, u32::from(release.end()) + u32::from(line_end), ""));
    Some(edits)
}

//! `with open(path, "w") as file`, `PATH.write_text(text)`: created or refused in one step, or written beside and put in its place.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::suites::{around, holds, indent, slice};
use crate::Edit;

/// A file that is written anew.
struct Written<'a> {
    /// The statement that does it.
    statement: TextRange,
    path: &'a Expr,
    /// How it is opened; a method that writes all at once is not told.
    mode: Option<&'a Expr>,
    /// Whether a method of the path does it.
    by_path: bool,
}

/// The innermost file that is opened to be written at a place: `open(path, "w")`, `open(path, mode="w")`, `PATH.open("w")`.
fn opened(body: &[Stmt], place: u32) -> Option<Written<'_>> {
    let suites = around(body, place);
    suites.iter().rev().flat_map(|suite| suite.iter()).find_map(|statement| {
        let Stmt::With(with) = statement else { return None };
        let [item] = with.items.as_slice() else { return None };
        let Expr::Call(call) = &item.context_expr else { return None };
        if with.is_async || !holds(with.range, place) {
            return None;
        }
        let mut positional = call.arguments.args.iter();
        let (path, by_path) = match &*call.func {
            Expr::Name(name) if name.id.as_str() == "open" => (positional.next()?, false),
            Expr::Attribute(method) if method.attr.as_str() == "open" && is_plain(&method.value) => {
                (&*method.value, true)
            }
            _ => return None,
        };
        let mut keywords = call.arguments.keywords.iter();
        let by_name = keywords.find(|it| it.arg.as_ref().is_some_and(|arg| arg.as_str() == "mode"));
        let mode = match positional.next() {
            Some(mode) => mode,
            None => &by_name?.value,
        };
        if positional.next().is_some() {
            return None;
        }
        let Expr::StringLiteral(text) = mode else { return None };
        let is_anew = matches!(text.value.to_str(), "w" | "wt" | "wb");
        is_anew.then_some(Written { statement: with.range, path, mode: Some(mode), by_path })
    })
}

/// A file that is written in one statement: `PATH.write_text(text)`.
fn written(body: &[Stmt], place: u32) -> Option<Written<'_>> {
    let suites = around(body, place);
    suites.iter().rev().flat_map(|suite| suite.iter()).find_map(|statement| {
        let Stmt::Expr(whole) = statement else { return None };
        let Expr::Call(call) = &*whole.value else { return None };
        let Expr::Attribute(method) = &*call.func else { return None };
        let writes = matches!(method.attr.as_str(), "write_text" | "write_bytes");
        let is_it = writes && is_plain(&method.value) && holds(whole.range, place);
        is_it.then_some(Written { statement: whole.range, path: &method.value, mode: None, by_path: true })
    })
}

/// The mode `x` instead of `w`.
pub(super) fn exclusive(text: &str, body: &[Stmt], place: u32) -> Option<Vec<Edit>> {
    let range = opened(body, place)?.mode?.range();
    let changed = slice(text, range).replacen('w', "x", 1);
    Some(vec![Edit::replace(range.start().into(), range.end().into(), changed)])
}

/// Another file beside it, which takes its place.
pub(super) fn beside(text: &str, body: &[Stmt], place: u32) -> Option<Vec<Edit>> {
    let Written { statement, path, by_path, .. } = opened(body, place).or_else(|| written(body, place))?;
    let named = slice(text, path.range());
    // What is written twice must be the same twice.
    if text.contains(NEW) {
        return None;
    }
    let beside = match path {
        Expr::StringLiteral(it) => it.value.to_str().to_owned(),
        _ if is_plain(path) => format!("{{{named}}}"),
        _ => return None,
    };
    if named.contains('\n')
        || beside.contains(['"', '\'', '\\'])
        || is_text(path) && beside.contains(['{', '}'])
    {
        return None;
    }
    let start: u32 = statement.start().into();
    let indent = indent(text, start)?;
    let made = if by_path {
        format!("{NEW} = {named}.with_name(f\"{{{named}.name}}.{{uuid.uuid4().hex}}.tmp\")\n{indent}")
    } else {
        format!("{NEW} = f\"{beside}.{{uuid.uuid4().hex}}.tmp\"\n{indent}")
    };
    let put = format!("\n{indent}os.replace({NEW}, {named})");
    let range = path.range();
    let last = Edit::insert(statement.end().into(), put);
    if range.start() == statement.start() {
        let changed = format!("{made}{NEW}");
        return Some(vec![Edit::replace(start, range.end().into(), changed), last]);
    }
    Some(vec![Edit::insert(start, made), Edit::replace(range.start().into(), range.end().into(), NEW), last])
}

/// What the path of the other file is called.
const NEW: &str = "beside_path";

fn is_text(expression: &Expr) -> bool {
    matches!(expression, Expr::StringLiteral(_))
}

/// A name or a member of one.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Name(_) => true,
        Expr::Attribute(it) => is_plain(&it.value),
        _ => false,
    }
}

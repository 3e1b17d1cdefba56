//! `with open(path, "w") as file`: created or refused in one step, or written beside and put in its place.

use ruff_python_ast::{Expr, Stmt, StmtWith};
use ruff_text_size::Ranged;

use super::suites::{around, holds, indent, slice};
use crate::Edit;

/// A file that is opened to be written anew.
struct Opened<'a> {
    with: &'a StmtWith,
    path: &'a Expr,
    mode: &'a Expr,
}

/// The innermost such file that is written at a place.
fn opened(body: &[Stmt], place: u32) -> Option<Opened<'_>> {
    let suites = around(body, place);
    suites.iter().rev().flat_map(|suite| suite.iter()).find_map(|statement| {
        let Stmt::With(with) = statement else { return None };
        let [item] = with.items.as_slice() else { return None };
        let Expr::Call(call) = &item.context_expr else { return None };
        let is_open = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "open");
        if with.is_async || !is_open || !holds(with.range, place) {
            return None;
        }
        let [path, mode @ Expr::StringLiteral(text)] = &*call.arguments.args else { return None };
        matches!(text.value.to_str(), "w" | "wt" | "wb").then_some(Opened { with, path, mode })
    })
}

/// The mode `x` instead of `w`.
pub(super) fn exclusive(text: &str, body: &[Stmt], place: u32) -> Option<Vec<Edit>> {
    let Opened { mode, .. } = opened(body, place)?;
    let range = mode.range();
    let changed = slice(text, range).replacen('w', "x", 1);
    Some(vec![Edit::replace(range.start().into(), range.end().into(), changed)])
}

/// Another file beside it, which takes its place.
pub(super) fn beside(text: &str, body: &[Stmt], place: u32) -> Option<Vec<Edit>> {
    let Opened { with, path, .. } = opened(body, place)?;
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
    let start: u32 = with.range.start().into();
    let indent = indent(text, start)?;
    let made = format!("{NEW} = f\"{beside}.{{uuid.uuid4().hex}}.tmp\"\n{indent}");
    let put = format!("\n{indent}os.replace({NEW}, {named})");
    let range = path.range();
    Some(vec![
        Edit::insert(start, made),
        Edit::replace(range.start().into(), range.end().into(), NEW),
        Edit::insert(with.range.end().into(), put),
    ])
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

//! A write that only makes a file which was not there gets the flag that says so.
//!
//! Changed is a write where every way to it goes through a test that said that the file is missing, and nothing in between could
//! have made it. A test that is joined with another (`exists && !overwrite`) lets the write replace a file as well, so it is left
//! alone.
//!
//! Whoever comes second is refused by the flag. Where a file that was there all along is refused as well, that is right; where it is
//! fine, the second one must find it fine too (`ensure.rs`).

use oxc_ast::{
    AstKind,
    ast::{Expression, ObjectPropertyKind},
};
use oxc_span::GetSpan;

use super::{
    expression::{arguments, called, leaves, occurrences, reassigned},
    file::File,
    search::{CallSite, is_function, is_loop, statements, within},
};
use crate::Edit;

mod ensure;
mod test;

use test::{Tests, tested};

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    /// The way to the write is left: by an error, by another answer, or by doing something else with it.
    Refused,
    /// It is as good as one that was just made.
    Fine,
}

pub(super) fn change(file: &File<'_, '_>, found: &CallSite<'_>) -> Option<Vec<Edit>> {
    let access = file.bindings.file_function(&found.call.callee)?;
    let arguments = arguments(found.call)?;
    let edit = match (access.name.as_str(), arguments.as_slice()) {
        ("writeFile" | "writeFileSync", [_, data]) => {
            let quote = file.bindings.quote();
            Edit::insert(data.span().end, format!(", {{ flag: {quote}wx{quote} }}"))
        }
        ("writeFile" | "writeFileSync", [_, _, options]) => with_flag(file, options)?,
        ("open" | "openSync", [_, flags, ..]) => opened(file, flags)?,
        _ => return None,
    };
    let path = arguments.first()?;
    let mut edits = vec![edit];
    if guarded(file, found, file.slice(path.span()), path.span().start)? == Existing::Fine {
        // What an open that was refused would have to give instead is not known.
        if !access.name.starts_with("writeFile") {
            return None;
        }
        edits.extend(ensure::as_good(file, found, access.promises)?);
    }
    Some(edits)
}

/// The options with the flag.
fn with_flag(file: &File<'_, '_>, options: &Expression<'_>) -> Option<Edit> {
    match options {
        Expression::StringLiteral(encoding) => {
            let written = file.slice(encoding.span());
            let quote = written.chars().next()?;
            let text = format!("{{ encoding: {written}, flag: {quote}wx{quote} }}");
            Some(Edit::replace(encoding.span.start, encoding.span.end, text))
        }
        Expression::ObjectExpression(object) => {
            let quote = file.bindings.quote();
            let mut last = None;
            for property in &object.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
                if property.computed || property.key.static_name().is_none_or(|name| name == "flag") {
                    return None;
                }
                last = Some(property.span.end);
            }
            Some(match last {
                Some(end) => Edit::insert(end, format!(", flag: {quote}wx{quote}")),
                None => {
                    Edit::replace(object.span.start, object.span.end, format!("{{ flag: {quote}wx{quote} }}"))
                }
            })
        }
        _ => None,
    }
}

/// The flags of an open that empties a file.
fn opened(file: &File<'_, '_>, flags: &Expression<'_>) -> Option<Edit> {
    let Expression::StringLiteral(flags) = flags else { return None };
    let exclusive = match flags.value.as_str() {
        "w" => "wx",
        "w+" => "wx+",
        _ => return None,
    };
    let quote = file.slice(flags.span()).chars().next()?;
    Some(Edit::replace(flags.span.start, flags.span.end, format!("{quote}{exclusive}{quote}")))
}

/// What becomes of a file that is there, if every way to the write goes through a test that said that it is missing. `until` is where
/// the path of the write stands.
fn guarded(file: &File<'_, '_>, found: &CallSite<'_>, path: &str, until: u32) -> Option<Existing> {
    let tests = Tests::of(file, found);
    let untouched = |from: u32| {
        let between = file.between(from, until);
        // A path that is put together must be put together from the same parts.
        !reassigned(between, path)
            && occurrences(between, path).all(|index| {
                let before = between.get(..index).unwrap_or_default().trim_end();
                before.ends_with("dirname(")
            })
    };
    for (index, kind) in found.around.iter().enumerate().rev() {
        if is_function(*kind) || is_loop(*kind) {
            return None;
        }
        let Some(child) = found.around.get(index + 1) else { continue };
        match kind {
            AstKind::IfStatement(branch) => {
                let Some(test) = tested(file, &branch.test, &tests) else { continue };
                let on_yes = within(child.span(), branch.consequent.span());
                let on_no = branch.alternate.as_ref().is_some_and(|other| within(child.span(), other.span()));
                let missing = if test.says_exists { on_no } else { on_yes };
                let body = if on_yes { branch.consequent.span() } else { child.span() };
                if missing
                    && test.path == path
                    && untouched(body.start)
                    && test.untouched(file, branch.test.span(), path)
                {
                    let goes_on = branch.alternate.is_none() && !leaves(&branch.consequent);
                    return Some(if goes_on { Existing::Fine } else { Existing::Refused });
                }
            }
            AstKind::CatchClause(catch) => {
                let Some(AstKind::TryStatement(attempt)) =
                    index.checked_sub(1).and_then(|i| found.around.get(i))
                else {
                    continue;
                };
                let [only] = attempt.block.body.as_slice() else { continue };
                let accessed = called(only).and_then(|call| test::accessed(file, call));
                if accessed == Some(path) && untouched(child.span().start) {
                    let goes_on = !catch.body.body.last().is_some_and(leaves);
                    return Some(if goes_on { Existing::Fine } else { Existing::Refused });
                }
            }
            kind => {
                let before = statements(*kind).unwrap_or_default().iter().rev();
                let before = before.filter(|statement| statement.span().end <= child.span().start);
                for statement in before {
                    if test::turns_back(file, statement, path, &tests) {
                        let silently = ensure::leaves_silently(statement) && is_last(*kind, *child);
                        let existing = if silently { Existing::Fine } else { Existing::Refused };
                        return untouched(statement.span().end).then_some(existing);
                    }
                }
            }
        }
    }
    None
}

/// Whether a statement is the last of its list.
fn is_last(list: AstKind<'_>, statement: AstKind<'_>) -> bool {
    statements(list).and_then(<[_]>::last).is_some_and(|last| last.span() == statement.span())
}

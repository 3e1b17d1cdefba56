//! A file that somebody else has made in the meantime is as good as one that was there before.

use oxc_ast::{AstKind, ast::Statement};

use super::super::{
    file::File,
    search::{CallSite, is_function},
};
use crate::Edit;

/// What lets a write go on where the flag refuses it. `None` where there is no place for it.
pub(super) fn as_good(file: &File<'_, '_>, found: &CallSite<'_>, promises: bool) -> Option<Vec<Edit>> {
    if is_expected(file, found) {
        return Some(vec![]);
    }
    let quote = file.bindings.quote();
    let (newline, unit) = (file.layout.newline, file.unit());
    let call = found.call.span;
    if promises {
        let base = file.indent(call.start);
        let semicolon = if file.between(call.end, call.end + 1) == ";" { ";" } else { "" };
        let lines = [
            ".catch((error) => {".to_owned(),
            format!("{base}{unit}if (error.code !== {quote}EEXIST{quote}) throw error{semicolon}"),
            format!("{base}}})"),
        ];
        return Some(vec![Edit::insert(call.end, lines.join(newline))]);
    }
    let Some(AstKind::ExpressionStatement(statement)) = found.parent(0) else { return None };
    let span = statement.span;
    let base = file.indent(span.start);
    let semicolon = if file.slice(span).ends_with(';') { ";" } else { "" };
    // What is caught may be anything, and TypeScript wants to be told.
    let error =
        if file.program.source_type.is_typescript() { "(error as NodeJS.ErrnoException)" } else { "error" };
    let before = format!("try {{{newline}{base}{unit}");
    let behind = [
        String::new(),
        format!("{base}}} catch (error) {{"),
        format!("{base}{unit}if ({error}.code !== {quote}EEXIST{quote}) throw error{semicolon}"),
        format!("{base}}}"),
    ];
    let deeper = file.line_starts(span.start, span.end).into_iter().map(|at| Edit::insert(at, unit));
    let mut edits = vec![Edit::insert(span.start, before), Edit::insert(span.end, behind.join(newline))];
    edits.extend(deeper);
    Some(edits)
}

/// Whether a `catch` around the write knows what it means to be refused, or does not mind whatever happens.
fn is_expected(file: &File<'_, '_>, found: &CallSite<'_>) -> bool {
    let around = found.around.iter().rev().take_while(|kind| !is_function(**kind));
    around.filter_map(|kind| kind.as_try_statement()).filter_map(|attempt| attempt.handler.as_ref()).any(
        |handler| {
            let knows = file.slice(handler.span).contains("EEXIST") || handler.body.body.is_empty();
            knows && !handler.span.contains_inclusive(found.call.span)
        },
    )
}

/// Whether a statement that turns back tells the caller nothing of a file that is there.
pub(super) fn leaves_silently(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::IfStatement(branch) => leaves_silently(&branch.consequent),
        Statement::BlockStatement(block) => block.body.last().is_some_and(leaves_silently),
        Statement::TryStatement(attempt) => attempt.block.body.last().is_some_and(leaves_silently),
        Statement::ReturnStatement(left) => left.argument.is_none(),
        Statement::ContinueStatement(_) => true,
        _ => false,
    }
}

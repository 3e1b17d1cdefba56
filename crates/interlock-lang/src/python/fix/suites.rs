//! Statements with those that stand beside them.

use ruff_python_ast::{
    Expr, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use crate::Edit;

/// The lists of statements around a place, the innermost last.
pub(super) fn around(body: &[Stmt], place: u32) -> Vec<&[Stmt]> {
    let mut around = Around { place, found: vec![] };
    around.visit_body(body);
    around.found
}

struct Around<'a> {
    place: u32,
    found: Vec<&'a [Stmt]>,
}

impl<'a> Visitor<'a> for Around<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        if let Some(statement) = body.iter().find(|statement| holds(statement.range(), self.place)) {
            self.found.push(body);
            self.visit_stmt(statement);
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

pub(super) fn holds(range: TextRange, place: u32) -> bool {
    u32::from(range.start()) <= place && place < u32::from(range.end())
}

pub(super) fn slice(text: &str, range: TextRange) -> &str {
    text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
}

/// What stands before a statement on its line, if that is nothing but white space.
pub(super) fn indent(text: &str, at: u32) -> Option<&str> {
    let before = text.get(..usize::try_from(at).ok()?)?;
    let line = before.rsplit('\n').next().unwrap_or(before);
    line.trim().is_empty().then_some(line)
}

/// Brings in the modules that are not there.
pub(super) fn imports(body: &[Stmt], wanted: &[&'static str]) -> Option<Edit> {
    let known = |name: &str| {
        body.iter().any(|statement| match statement {
            Stmt::Import(it) => {
                it.names.iter().any(|alias| alias.name.as_str() == name && alias.asname.is_none())
            }
            _ => false,
        })
    };
    let mut missing: Vec<&str> = wanted.iter().copied().filter(|name| !known(name)).collect();
    missing.sort_unstable();
    missing.dedup();
    let is_import = |statement: &&Stmt| match statement {
        Stmt::Import(_) => true,
        Stmt::ImportFrom(it) => it.module.as_ref().is_none_or(|module| module.as_str() != "__future__"),
        _ => false,
    };
    let first = body.iter().find(is_import)?;
    let lines: String = missing.iter().map(|name| format!("import {name}\n")).collect();
    (!missing.is_empty()).then(|| Edit::insert(u32::from(first.range().start()), lines))
}

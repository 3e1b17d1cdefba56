//! Linking, shown on small trees.

mod alternatives;
mod classes;
mod collections;
mod hostile;
mod imports;
mod libraries;
mod objects;
mod requests;
mod terms;
mod unresolved;

use std::sync::OnceLock;

use expect_test::Expect;
use interlock_model::ir::Program;

use crate::{
    Source,
    knowledge::Knowledge,
    typescript::{LANGUAGE, lower::lower},
};

/// A tree: file names start with `//- `. What ends in `.json`, `.prisma` or `.sql` is a setting.
fn linked(tree: &str) -> Program {
    let mut files: Vec<(String, String)> = vec![];
    for line in tree.lines() {
        match (line.trim_start().strip_prefix("//- "), files.last_mut()) {
            (Some(path), _) => files.push((path.trim().to_owned(), String::new())),
            (None, Some((_, text))) => text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    files.sort();
    let (settings, sources): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|(path, _)| [".json", ".prisma", ".sql"].iter().any(|end| path.ends_with(end)));
    let modules = sources.iter().map(|(path, text)| lower(&Source { path, text })).collect();
    static KNOWLEDGE: OnceLock<Knowledge> = OnceLock::new();
    let knowledge = KNOWLEDGE.get_or_init(|| Knowledge::of(LANGUAGE).unwrap());
    super::link(LANGUAGE, modules, &settings, knowledge)
}

/// The whole program as text.
fn check(tree: &str, expected: &Expect) {
    expected.assert_eq(&linked(tree).to_string());
}

/// One function of the program, by name.
fn check_function(tree: &str, name: &str, expected: &Expect) {
    let text = linked(tree).to_string();
    let head = format!("fn {name}(");
    let mut lines = vec![];
    for line in text.lines() {
        let starts = line.get(6..).is_some_and(|rest| rest.starts_with("fn "));
        // The name of the next file stands at the very left.
        let is_step = line.starts_with(|first: char| first.is_ascii_digit() || first == ' ');
        let inside = !lines.is_empty() && !starts && is_step;
        if line.contains(&head) && starts || inside {
            lines.push(line);
        } else if !lines.is_empty() {
            break;
        }
    }
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

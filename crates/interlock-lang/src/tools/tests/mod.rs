//! Handlers, tools and servers found in the spellings that servers use.

mod chosen;
mod compared;
mod composed;
mod decorated;
mod dispatched;
mod helped;
mod left_out;
mod loaded;
mod lookup;
mod looped;
mod named;
mod prefixed;
mod python;
mod served;
mod told;
mod wrapped;

use std::fmt::Write as _;

use expect_test::Expect;
use interlock_model::ir::{Origin, Program, Role, Transport};

use crate::{
    Source,
    knowledge::Knowledge,
    link::link,
    typescript::{LANGUAGE, lower::lower},
};

/// A tree: file names start with `//- `. What ends in `.json` is a setting.
fn linked(tree: &str) -> Program {
    linked_with("", tree)
}

/// The same, with tables that a user adds.
fn linked_with(tables: &str, tree: &str) -> Program {
    let mut files: Vec<(String, String)> = vec![];
    for line in tree.lines() {
        match (line.trim_start().strip_prefix("//- "), files.last_mut()) {
            (Some(path), _) => files.push((path.trim().to_owned(), String::new())),
            (None, Some((_, text))) => text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    files.sort();
    let (settings, sources): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(path, _)| path.ends_with(".json"));
    let modules = sources.iter().map(|(path, text)| lower(&Source { path, text })).collect();
    let mut knowledge = Knowledge::of(LANGUAGE).unwrap();
    knowledge.extend(tables).unwrap();
    link(LANGUAGE, modules, &settings, &knowledge)
}

/// What was found: handlers with their tools, entries that are no tools, values that say who calls, servers, notes.
fn check(tree: &str, expected: &Expect) {
    check_program(&linked(tree), expected);
}

fn check_program(program: &Program, expected: &Expect) {
    let mut text = String::new();
    let place = |span: interlock_model::Span| {
        let file = program.files.get(span.file.0 as usize).map_or("?", |file| file);
        format!("{file}:{}", span.line)
    };
    for function in &program.functions {
        if let Role::Handler(tools) = &function.role {
            let list: Vec<String> = tools
                .iter()
                .map(|tool| {
                    let read_only = if tool.read_only { " (read-only)" } else { "" };
                    let idempotent = if tool.idempotent { " (idempotent)" } else { "" };
                    format!("{}{read_only}{idempotent}", tool.name)
                })
                .collect();
            let tools = if list.is_empty() { "no tool".into() } else { list.join(", ") };
            writeln!(text, "{} {}: {tools}", place(function.span), function.name).unwrap();
        }
        for value in &function.values {
            match value.origin {
                Origin::Caller => writeln!(text, "  caller {}", value.name).unwrap(),
                Origin::Session => writeln!(text, "  session {}", value.name).unwrap(),
                _ => {}
            }
        }
    }
    for server in &program.servers {
        let transport = match server.transport {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        };
        let limited = if server.limited { ", limited" } else { "" };
        writeln!(text, "{transport} {}: {} handlers{limited}", place(server.span), server.handlers.len())
            .unwrap();
    }
    for note in &program.notes {
        writeln!(text, "note {}: {}", place(note.span), note.text).unwrap();
    }
    expected.assert_eq(&text);
}

/// The functions of the program whose head contains a text, with their steps.
fn check_steps(tree: &str, head: &str, expected: &Expect) {
    let text = linked(tree).to_string();
    let (mut steps, mut inside) = (String::new(), false);
    for line in text.lines() {
        if line.get(6..).is_some_and(|rest| rest.starts_with("fn ")) {
            inside = line.contains(head);
        } else if line.is_empty() {
            inside = false;
        }
        if inside {
            steps.extend([line, "\n"]);
        }
    }
    expected.assert_eq(&steps);
}

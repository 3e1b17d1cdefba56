//! Which events and start-up code belong to what callers reach. A tree also has commands, scripts and pages of its own, and a race
//! between two runs of those is nobody's tool call.

use std::collections::HashSet;

use interlock_model::ir::{Name, Op, Program, Resource, Role, Root, Tool};

use super::{
    entry::{Entry, Runs},
    kinds::Kinds,
};

/// What callers reach: files, and what lies in shared memory.
#[derive(Default)]
struct Touched {
    files: HashSet<u32>,
    globals: HashSet<Name>,
}

/// Notes of each entry whether it runs beside calls. Where no call is known at all, there is nothing to run beside.
pub(super) fn mark(program: &Program, entries: &mut [Entry<'_>]) {
    let handlers = || {
        program.functions.iter().filter_map(|function| match &function.role {
            Role::Handler(tools) => Some((function, tools)),
            Role::StartUp | Role::Helper => None,
        })
    };
    // A page that a command serves while somebody logs in is called as well, but no tool leads there.
    let has_tools = handlers().any(|(_, tools)| !tools.is_empty());
    let counts = |tools: &[Tool]| !has_tools || !tools.is_empty();
    let mut called = Touched::default();
    // A tool of which no step is left has no entry, and is called all the same.
    called
        .files
        .extend(handlers().filter(|(_, tools)| counts(tools)).map(|(function, _)| function.span.file.0));
    for entry in entries.iter() {
        if matches!(entry.runs, Runs::Call(tools) | Runs::Part(tools) if counts(tools)) {
            called.files.extend(files(entry));
            for name in globals(entry) {
                if !called.globals.contains(name) {
                    called.globals.insert(name.clone());
                }
            }
        }
    }
    for entry in entries.iter_mut().filter(|entry| matches!(entry.runs, Runs::Event | Runs::StartUp)) {
        entry.beside_calls = files(entry).any(|file| called.files.contains(&file))
            || globals(entry).any(|name| called.globals.contains(name));
    }
}

/// The files of the functions that an entry comes by.
fn files(entry: &Entry<'_>) -> impl Iterator<Item = u32> {
    entry.functions().filter_map(|id| entry.program.function(id)).map(|function| function.span.file.0)
}

/// What an entry touches in shared memory.
fn globals<'n>(entry: &'n Entry<'_>) -> impl Iterator<Item = &'n Name> {
    let kinds = Kinds::TOUCHES | Kinds::OPEN | Kinds::CLOSE;
    entry.steps_of(kinds).filter_map(|at| {
        let root = match (entry.resource(at), entry.op(at)) {
            (Some(Resource::Shared(path) | Resource::Flag(path)), _) => &path.root,
            (_, Some(Op::Open { handle } | Op::Close { handle })) => &handle.root,
            _ => return None,
        };
        match root {
            Root::Global(name) => Some(name),
            _ => None,
        }
    })
}

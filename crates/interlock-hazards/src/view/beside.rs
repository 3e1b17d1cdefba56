//! Which events and start-up code belong to what callers reach. A tree also has commands, scripts and pages of its own, and a race
//! between two runs of those is nobody's tool call.

use std::collections::HashSet;

use interlock_model::ir::{FunctionId, Name, Op, Program, Resource, Role, Root, Tool};

use super::entry::{Entry, Runs};

/// What an entry has in common with others: functions, files, and what lies in shared memory.
#[derive(Default)]
struct Touched {
    functions: HashSet<FunctionId>,
    files: HashSet<u32>,
    globals: HashSet<Name>,
}

/// Notes of each entry whether it runs beside calls. Where no call is known at all, nothing is known of the others either.
pub(super) fn mark(program: &Program, entries: &mut [Entry<'_>]) {
    let handlers = || {
        (0..).map(FunctionId).zip(&program.functions).filter_map(|(id, function)| match &function.role {
            Role::Handler(tools) => Some((id, tools)),
            Role::StartUp | Role::Helper => None,
        })
    };
    // A page that a command serves while somebody logs in is called as well, but no tool leads there.
    let has_tools = handlers().any(|(_, tools)| !tools.is_empty());
    let counts = |tools: &[Tool]| !has_tools || !tools.is_empty();
    let mut called = Touched::default();
    // A tool of which no step is left has no entry, and is called all the same.
    for (id, _) in handlers().filter(|(_, tools)| counts(tools)) {
        called.function(program, id);
    }
    if called.functions.is_empty() {
        return;
    }
    for entry in entries.iter() {
        if matches!(entry.runs, Runs::Call(tools) if counts(tools)) {
            called.add(entry);
        }
    }
    for entry in entries.iter_mut().filter(|entry| matches!(entry.runs, Runs::Event | Runs::StartUp)) {
        let mut own = Touched::default();
        own.add(entry);
        entry.beside_calls = own.meets(&called);
    }
}

impl Touched {
    fn function(&mut self, program: &Program, id: FunctionId) {
        self.functions.insert(id);
        self.files.extend(program.function(id).map(|function| function.span.file.0));
    }

    fn add(&mut self, entry: &Entry<'_>) {
        entry.frames.iter().for_each(|frame| self.function(entry.program, frame.function));
        for step in &entry.steps {
            let root = match (&step.resource, &step.effect.op) {
                (Some(Resource::Shared(path) | Resource::Flag(path)), _) => &path.root,
                (_, Op::Open { handle } | Op::Close { handle }) => &handle.root,
                _ => continue,
            };
            if let Root::Global(name) = root {
                self.globals.insert(name.clone());
            }
        }
    }

    fn meets(&self, other: &Self) -> bool {
        !self.functions.is_disjoint(&other.functions)
            || !self.files.is_disjoint(&other.files)
            || !self.globals.is_disjoint(&other.globals)
    }
}

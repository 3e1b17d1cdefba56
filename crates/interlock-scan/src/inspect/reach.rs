//! How entry points get to a line: the calls that were inlined around it, and where none were, the calls that lead to its function.

use std::collections::{BTreeSet, VecDeque};

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::{
    Location, Reaching, Span,
    ir::{Block, FunctionId, Op, Program, Role},
};
use rustc_hash::FxHashMap;

use super::find::SourceLine;
use crate::expand::{location, references};

/// The entry points in whose steps the line is, by the calls that were inlined.
pub(super) fn inlined(program: &Program, entries: &[Expanded], place: SourceLine) -> Vec<Reaching> {
    let mut reached = BTreeSet::new();
    for entry in entries {
        let mut path = Vec::new();
        if !find(&entry.body, place, &mut path) {
            continue;
        }
        let first = (
            entry.function,
            program.function(entry.function).map_or(Span::default(), |function| function.span),
        );
        let calls: Vec<(String, Location)> =
            std::iter::once(first).chain(path).map(|(id, span)| named(program, id, span)).collect();
        for entry in names(&entry.runs) {
            reached.insert(Reaching { entry, calls: calls.clone(), inlined: true });
        }
    }
    reached.into_iter().collect()
}

/// The calls around the first step at a line.
fn find(block: &Block, place: SourceLine, path: &mut Vec<(FunctionId, Span)>) -> bool {
    for effect in block {
        if effect.span.file == place.file && effect.span.line == place.line {
            return true;
        }
        let depth = path.len();
        if let Op::Inlined { function, .. } = &effect.op {
            path.push((*function, effect.span));
        }
        if effect.op.blocks().any(|inner| find(inner, place, path)) {
            return true;
        }
        path.truncate(depth);
    }
    false
}

/// What an entry point is called.
fn names(runs: &Runs) -> Vec<String> {
    match runs {
        Runs::Call(tools) | Runs::Part(tools) if tools.is_empty() => {
            vec!["a request that is no tool".to_owned()]
        }
        Runs::Call(tools) => tools.iter().map(|tool| format!("tool {}", tool.name)).collect(),
        Runs::Part(tools) => tools
            .iter()
            .map(|tool| format!("tool {}, of which this part was looked at by itself", tool.name))
            .collect(),
        Runs::Event => vec!["an event or a timer".to_owned()],
        Runs::StartUp => vec!["start-up".to_owned()],
        Runs::Unreached => vec!["nothing that is known; it was looked at by itself".to_owned()],
    }
}

/// The handlers and start-up code that refer to a function, however far, by their shortest chains of calls.
pub(super) fn by_calls(program: &Program, function: FunctionId) -> Vec<Reaching> {
    let mut reached = Vec::new();
    let roots = (0..).map(FunctionId).zip(&program.functions).filter(|(_, root)| root.role != Role::Helper);
    for (root, entry) in roots {
        let Some(path) = shortest(program, root, function) else { continue };
        let calls: Vec<(String, Location)> =
            path.into_iter().map(|(id, span)| named(program, id, span)).collect();
        let runs = match &entry.role {
            Role::Handler(tools) => Runs::Call(tools.clone()),
            _ => Runs::StartUp,
        };
        let reaching = |entry| Reaching { entry, calls: calls.clone(), inlined: false };
        reached.extend(names(&runs).into_iter().map(reaching));
    }
    reached.sort();
    reached
}

/// The fewest calls from one function to another, each with where it stands.
fn shortest(program: &Program, from: FunctionId, to: FunctionId) -> Option<Vec<(FunctionId, Span)>> {
    let start = program.function(from)?.span;
    let mut before: FxHashMap<FunctionId, (FunctionId, Span)> = FxHashMap::default();
    let mut pending = VecDeque::from([from]);
    while let Some(id) = pending.pop_front() {
        if id == to {
            break;
        }
        for (callee, span) in program.function(id).into_iter().flat_map(references) {
            if callee != from && !before.contains_key(&callee) {
                before.insert(callee, (id, span));
                pending.push_back(callee);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        let (caller, span) = *before.get(&at)?;
        path.push((at, span));
        at = caller;
    }
    path.push((from, start));
    path.reverse();
    Some(path)
}

fn named(program: &Program, id: FunctionId, span: Span) -> (String, Location) {
    let name = program.function(id).map(|function| function.name.to_string()).unwrap_or_default();
    (name, location(program, span))
}

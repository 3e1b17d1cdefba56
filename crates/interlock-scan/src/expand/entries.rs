//! The ways into a program: handlers, what events start, start-up, and what nothing reaches.

use std::collections::{HashMap, HashSet};

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::ir::{
    Argument, Block, Callee, Effect, FunctionId, Name, Op, Program, Resource, Role, Start, Tool,
};

use super::follow::Follower;

/// How many functions that nothing reaches are looked at.
const MOST_UNREACHED: usize = 20_000;

/// Every way into the program, expanded.
pub(crate) fn entries(program: &Program) -> Vec<Expanded> {
    let mut follower = Follower::new(program);
    let mut entries = vec![];
    let ids = || (0..).map(FunctionId).zip(&program.functions);
    for (id, function) in ids() {
        match &function.role {
            Role::Handler(tools) => handler(&mut follower, id, tools, &mut entries),
            Role::StartUp => start_up(&mut follower, id, &mut entries),
            Role::Helper => {}
        }
    }
    let roots = ids().filter(|(_, function)| function.role != Role::Helper).map(|(id, _)| id);
    let mut reached = Reached::new(program);
    roots.for_each(|id| reached.from(id));
    // Of what nothing reaches, those that nobody calls come first; a circle is entered somewhere.
    let called = reached.called();
    let mut unreached: Vec<FunctionId> = ids().map(|(id, _)| id).filter(|id| !called.contains(id)).collect();
    unreached.extend(ids().map(|(id, _)| id).filter(|id| called.contains(id)));
    for id in unreached.into_iter().take(MOST_UNREACHED) {
        if reached.has(id) {
            continue;
        }
        reached.from(id);
        push(&mut follower, id, Runs::Unreached, None, &mut entries);
    }
    entries
}

fn push(
    follower: &mut Follower<'_>,
    id: FunctionId,
    runs: Runs,
    only: Option<(&Name, &HashSet<Name>)>,
    entries: &mut Vec<Expanded>,
) {
    let Some(summary) = follower.summary(id) else { return };
    let mut body = summary.body.clone();
    if let Some((tool, tools)) = only {
        specialise(&mut body, tool, tools);
    }
    let matters = if runs == Runs::Unreached { acts(&body) } else { !body.is_empty() };
    if matters {
        entries.push(Expanded { function: id, runs, values: summary.values.clone(), body });
    }
}

/// Whether a body does anything that a rule could ask about: looking at memory alone harms nobody.
fn acts(body: &Block) -> bool {
    body.iter().any(|effect| match &effect.op {
        Op::Read { of: Resource::Shared(_), .. }
        | Op::Derive { .. }
        | Op::New { .. }
        | Op::Closure { .. }
        | Op::Suspend => false,
        Op::Exit(_) => false,
        Op::Call { .. } => false,
        Op::Check { .. } | Op::Loop { .. } | Op::Try { .. } | Op::Inlined { .. } | Op::Together { .. } => {
            effect.op.blocks().any(acts)
        }
        _ => true,
    })
}

/// A handler of several tools is entered once for each, by the way that its dispatch takes for that name.
fn handler(follower: &mut Follower<'_>, id: FunctionId, tools: &[Tool], entries: &mut Vec<Expanded>) {
    if tools.len() < 2 {
        return push(follower, id, Runs::Call(tools.to_vec()), None, entries);
    }
    let names: HashSet<Name> = tools.iter().map(|tool| tool.name.clone()).collect();
    for tool in tools {
        push(follower, id, Runs::Call(vec![tool.clone()]), Some((&tool.name, &names)), entries);
    }
}

fn specialise(block: &mut Block, tool: &Name, tools: &HashSet<Name>) {
    let old = std::mem::take(block);
    for mut effect in old {
        match &mut effect.op {
            Op::Check { equal: Some(text), then, otherwise, .. } if tools.contains(text) => {
                let taken = if text == tool { then } else { otherwise };
                specialise(taken, tool, tools);
                block.append(taken);
                continue;
            }
            Op::Check { then, otherwise, .. } => {
                specialise(then, tool, tools);
                specialise(otherwise, tool, tools);
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => {
                specialise(body, tool, tools);
            }
            Op::Together { branches } => {
                branches.iter_mut().for_each(|branch| specialise(branch, tool, tools));
            }
            Op::Try { body, catch, finally } => {
                specialise(body, tool, tools);
                if let Some(catch) = catch {
                    specialise(&mut catch.body, tool, tools);
                }
                specialise(finally, tool, tools);
            }
            _ => {}
        }
        block.push(effect);
    }
}

/// Start-up runs once; what it leaves behind for events runs beside the calls.
fn start_up(follower: &mut Follower<'_>, id: FunctionId, entries: &mut Vec<Expanded>) {
    let Some(summary) = follower.summary(id) else { return };
    let mut pending: Vec<&Effect> = summary.body.iter().collect();
    let mut events = vec![];
    while let Some(effect) = pending.pop() {
        match &effect.op {
            Op::Spawn { start: Start::Event | Start::Timer, body } => events.push(body.clone()),
            op => pending.extend(op.blocks().flatten()),
        }
    }
    push(follower, id, Runs::StartUp, None, entries);
    // In the order of the source, as they were found from behind.
    for body in events.into_iter().rev() {
        entries.push(Expanded { function: id, runs: Runs::Event, values: summary.values.clone(), body });
    }
}

/// Which functions something reaches.
struct Reached<'p> {
    program: &'p Program,
    seen: HashSet<FunctionId>,
    calls: HashMap<FunctionId, Vec<FunctionId>>,
}

impl<'p> Reached<'p> {
    fn new(program: &'p Program) -> Self {
        let mut calls = HashMap::new();
        for (id, function) in (0..).map(FunctionId).zip(&program.functions) {
            let mut callees = vec![];
            for effect in function.effects() {
                if let Op::Closure { function, .. } = &effect.op {
                    callees.push(*function);
                }
                if let Op::Call { callee, arguments, .. } = &effect.op {
                    if let Callee::Function(callee) | Callee::Closure { function: callee, .. } = callee {
                        callees.push(*callee);
                    }
                    callees.extend(arguments.iter().filter_map(|argument| match argument {
                        Argument::Closure { function, .. } => Some(*function),
                        Argument::Term(_) => None,
                    }));
                }
            }
            calls.insert(id, callees);
        }
        Self { program, seen: HashSet::new(), calls }
    }

    fn has(&self, id: FunctionId) -> bool {
        self.seen.contains(&id)
    }

    fn from(&mut self, id: FunctionId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if self.program.function(id).is_some() && self.seen.insert(id) {
                pending.extend(self.calls.get(&id).into_iter().flatten());
            }
        }
    }

    /// Everything that some other function calls.
    fn called(&self) -> HashSet<FunctionId> {
        let others = |(caller, callees): (&FunctionId, &Vec<FunctionId>)| {
            callees.iter().filter(|callee| *callee != caller).copied().collect::<Vec<_>>()
        };
        self.calls.iter().flat_map(others).collect()
    }
}

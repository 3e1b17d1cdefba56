//! The ways into a program: handlers, what events start, start-up, and what nothing reaches.

use std::sync::OnceLock;

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::ir::{Block, Effect, FunctionId, Op, Program, Resource, Role, Start, Tool};
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::{
    calls::{Calls, Reached},
    follow::Follower,
    order::levels,
    summary::{Summaries, Summary},
    tool::{Dispatch, Only, dispatches},
};

/// How many functions that nothing reaches are looked at.
const MOST_UNREACHED: usize = 20_000;

/// Every way into the program, expanded.
pub(crate) fn entries(program: &Program) -> Vec<Expanded> {
    let calls = Calls::new(program);
    let callers = calls.callers();
    let ids = || (0..).map(FunctionId).zip(&program.functions);
    let mut roots: Vec<FunctionId> =
        ids().filter(|(_, function)| function.role != Role::Helper).map(|(id, _)| id).collect();
    let mut reached = Reached::new(&calls);
    roots.iter().for_each(|id| reached.from(*id));
    // Of what nothing reaches, those that nobody calls come first; a circle is entered somewhere.
    let is_called = |id: FunctionId| callers.get(id.0 as usize).is_some_and(|callers| *callers > 0);
    let (called, free): (Vec<_>, Vec<_>) = ids().map(|(id, _)| id).partition(|id| is_called(*id));
    for id in free.into_iter().chain(called).take(MOST_UNREACHED) {
        if !reached.has(id) {
            reached.from(id);
            roots.push(id);
        }
    }
    let dispatches = dispatches(program, &calls);
    let summaries = follow(program, &calls, &reached, &roots, &dispatches);
    let entries = |id: &FunctionId| {
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        let (Some(function), Some(summary)) = (program.function(*id), summary) else { return vec![] };
        match (&function.role, dispatches.get(id)) {
            // A handler of several tools is entered once for each, by the way that its dispatch takes for that name.
            (Role::Handler(tools), Some(dispatch)) => {
                let of_tool = |tool: &Tool| {
                    let only = Only::new(&tool.name, dispatch);
                    let summary = Follower::only(program, &summaries, only).summary(*id)?;
                    entry(*id, &summary, Runs::Call(vec![tool.clone()]))
                };
                tools.par_iter().filter_map(of_tool).collect()
            }
            (Role::Handler(tools), None) => Vec::from_iter(entry(*id, summary, Runs::Call(tools.clone()))),
            (Role::StartUp, _) => start_up(*id, summary),
            (Role::Helper, _) => Vec::from_iter(entry(*id, summary, Runs::Unreached)),
        }
    };
    roots.par_iter().flat_map(entries).collect()
}

/// Follows the calls of everything that is reached, and leaves the summaries of the roots.
fn follow<'p>(
    program: &'p Program,
    calls: &Calls,
    reached: &Reached<'_>,
    roots: &[FunctionId],
    dispatches: &FxHashMap<FunctionId, Dispatch>,
) -> Summaries<'p> {
    let mut summaries: Summaries<'p> = program.functions.iter().map(|_| OnceLock::new()).collect();
    // How many still want a function. A root is wanted at the end, and so is what may be called wherever its value gets to, or from
    // what is followed again for each tool.
    let mut wanted: Vec<u32> = calls.callers();
    let again = dispatches.values().flat_map(Dispatch::functions).flat_map(|id| calls.of(id)).copied();
    let kept = roots.iter().copied().chain(calls.made_values()).chain(again);
    kept.for_each(|id| wanted.iter_mut().skip(id.0 as usize).take(1).for_each(|wanted| *wanted = u32::MAX));
    for level in levels(calls, reached, program.functions.len()) {
        level.par_iter().for_each(|circle| {
            let mut follower = Follower::new(program, &summaries);
            circle.iter().for_each(|id| drop(follower.summary(*id)));
        });
        // What nobody wants any more is given back on all threads: there is much of it.
        let mut gone = vec![];
        for id in level.into_iter().flatten() {
            for callee in calls.of(id).iter().filter(|callee| **callee != id) {
                let (Some(wanted), Some(place)) =
                    (wanted.get_mut(callee.0 as usize), summaries.get_mut(callee.0 as usize))
                else {
                    continue;
                };
                if *wanted != u32::MAX {
                    *wanted -= 1;
                    if *wanted == 0 {
                        gone.extend(place.take());
                    }
                }
            }
        }
        gone.into_par_iter().for_each(drop);
    }
    summaries
}

fn entry(id: FunctionId, summary: &Summary<'_>, runs: Runs) -> Option<Expanded> {
    let body = summary.body.clone();
    let matters = if runs == Runs::Unreached { acts(&body) } else { !body.is_empty() };
    matters.then(|| Expanded { function: id, runs, values: summary.infos(), body })
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

/// Start-up runs once; what it leaves behind for events runs beside the calls.
fn start_up(id: FunctionId, summary: &Summary<'_>) -> Vec<Expanded> {
    let mut pending: Vec<&Effect> = summary.body.iter().collect();
    let mut events = vec![];
    while let Some(effect) = pending.pop() {
        match &effect.op {
            Op::Spawn { start: Start::Event | Start::Timer, body } => events.push(body.clone()),
            op => pending.extend(op.blocks().flatten()),
        }
    }
    let values = if events.is_empty() { [].into() } else { summary.infos() };
    // In the order of the source, as they were found from behind.
    let events = events.into_iter().rev().map(|body| Expanded {
        function: id,
        runs: Runs::Event,
        values: values.clone(),
        body: body.into(),
    });
    entry(id, summary, Runs::StartUp).into_iter().chain(events).collect()
}

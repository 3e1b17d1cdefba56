//! The ways into a program: handlers, what events start, start-up, and what nothing reaches.

use std::sync::OnceLock;

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::ir::{Block, Effect, FunctionId, Op, Program, Resource, Role, Start, Tool};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{
    bodies::Bodies,
    calls::{Calls, Reached},
    cut::{Found, not_seen, of_handler, of_tool, with_what_is_inside},
    follow::Follower,
    order::levels,
    summary::Summaries,
    tool::{Dispatch, dispatches},
    unreached::{left_out, unreached},
    whole::Whole,
};

/// Every way into the program, expanded. The steps of its functions are gone afterwards.
pub(crate) fn entries(program: &mut Program) -> Vec<Expanded> {
    let calls = Calls::new(program);
    let ids = (0..).map(FunctionId).zip(&program.functions);
    let mut roots: Vec<FunctionId> =
        ids.filter(|(_, function)| function.role != Role::Helper).map(|(id, _)| id).collect();
    let mut reached = Reached::new(&calls);
    roots.iter().for_each(|id| reached.from(*id));
    let unreached = unreached(program, &calls, &mut reached);
    let dispatches = dispatches(program, &calls);
    let again = dispatches.values().flat_map(Dispatch::functions);
    let bodies = Bodies::of(program, again);
    let program = &*program;
    let summaries = follow(program, &bodies, &calls, &reached);
    let follower = || Follower::new(program, &bodies, &summaries);
    let left_out = left_out(&unreached, &follower());
    roots.extend(unreached);
    let entries = |id: &FunctionId| {
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        let (Some(function), Some(summary)) = (program.function(*id), summary) else {
            return Found::default();
        };
        let whole = || follower().whole(summary);
        match (&function.role, dispatches.get(id)) {
            // A handler of several tools is entered once for each, by the way that its dispatch takes for that name.
            (Role::Handler(tools), Some(dispatch)) => {
                let of_tool = |tool: &Tool| of_tool(follower(), *id, tool, dispatch);
                tools.par_iter().map(of_tool).reduce(Found::default, Found::and)
            }
            (Role::Handler(tools), None) => of_handler(*id, &whole(), tools, &summary.cut),
            (Role::StartUp, _) => Found::of(start_up(*id, &whole())),
            (Role::Helper, _) if !summary.held.can_harm(function.interleaving) => Found::default(),
            (Role::Helper, _) => {
                let whole = follower().without(left_out.get(id)).whole(summary);
                Found::of(Vec::from_iter(entry(*id, &whole, Runs::Unreached)))
            }
        }
    };
    let Found { mut entries, cut } = roots.par_iter().map(entries).reduce(Found::default, Found::and);
    let part = |(id, tools): &(FunctionId, Vec<Tool>)| {
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get)?;
        entry(*id, &follower().whole(summary), Runs::Part(tools.clone()))
    };
    let cut = not_seen(with_what_is_inside(cut, &summaries), &entries);
    entries.extend(cut.par_iter().filter_map(part).collect::<Vec<_>>());
    entries
}

/// Follows the calls of everything that is reached.
fn follow<'p>(program: &'p Program, bodies: &Bodies, calls: &Calls, reached: &Reached<'_>) -> Summaries<'p> {
    let summaries: Summaries<'p> = program.functions.iter().map(|_| OnceLock::new()).collect();
    for level in levels(calls, reached, program.functions.len()) {
        level.par_iter().for_each(|circle| {
            let mut follower = Follower::new(program, bodies, &summaries);
            circle.iter().for_each(|id| drop(follower.summary(*id)));
        });
    }
    summaries
}

pub(super) fn entry(id: FunctionId, whole: &Whole<'_>, runs: Runs) -> Option<Expanded> {
    let body = whole.body.clone();
    // What a tool does not do may count as well: rules look for a limit in any of them.
    let matters = if matches!(runs, Runs::Call(_)) { !body.is_empty() } else { acts(&body) };
    matters.then(|| Expanded { function: id, runs, values: whole.infos(), body })
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
fn start_up(id: FunctionId, whole: &Whole<'_>) -> Vec<Expanded> {
    let mut pending: Vec<&Effect> = whole.body.iter().collect();
    let mut events = vec![];
    while let Some(effect) = pending.pop() {
        match &effect.op {
            Op::Spawn { start: Start::Event | Start::Timer, body } => events.push(body.clone()),
            op => pending.extend(op.blocks().flatten()),
        }
    }
    let values = if events.is_empty() { [].into() } else { whole.infos() };
    // In the order of the source, as they were found from behind.
    let events = events.into_iter().rev().map(|body| Expanded {
        function: id,
        runs: Runs::Event,
        values: values.clone(),
        body: body.into(),
    });
    entry(id, whole, Runs::StartUp).into_iter().chain(events).collect()
}

//! The entry points of a program: handlers, what events start, start-up, and what nothing reaches.

use std::{collections::BTreeSet, sync::OnceLock};

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::{
    FileId, Loss, Span, ToolCoverage,
    ir::{Block, Effect, FunctionId, Note, Op, Program, Resource, Role, Root, Start, Tool},
};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{
    bodies::Bodies,
    budget::{Budget, SIDE_BY_SIDE, steps},
    calls::{Calls, Reached},
    component::has_many_roots,
    cut::{EntrySet, Seen, not_seen, of_handler, of_tool, under_locks, with_what_is_inside},
    follow::Follower,
    lost::{Lost, Touching, coverage, losses},
    order::{Circle, levels},
    summary::Summaries,
    tool::{Dispatch, dispatches},
    unreached::{LeftOut, left_out, unreached},
    whole::Whole,
};

/// A program whose calls were inlined.
pub(crate) struct Expansion {
    /// Every entry point.
    pub(crate) entries: Vec<Expanded>,
    /// How many functions no entry point reaches.
    pub(crate) unreached: usize,
    /// The functions that do something which other calls could notice.
    touching: Touching,
    /// Whether the budget for the whole program ran out.
    crowded: bool,
}

impl Expansion {
    /// How far the analysis got with each tool, and what was not followed in any entry point, each place once.
    pub(crate) fn lost(&self, program: &Program) -> (Vec<ToolCoverage>, BTreeSet<Loss>) {
        let lost = losses(program, &self.entries, &self.touching, self.crowded);
        (coverage(program, &self.entries, &lost), lost.into_iter().flat_map(Lost::all).collect())
    }
}

/// Every entry point of a program with its calls inlined. The steps of the program's functions are gone afterwards.
pub(crate) fn expand(program: &mut Program) -> Expansion {
    let mut budget = Budget::of(program);
    let EntryPoints { entries, unreached, touching } = expanded(program, &mut budget);
    if budget.is_full() {
        let text = "the program comes to more steps than there is room for, so some calls are not followed";
        program.notes.push(Note { span: Span::on_line(FileId(0), 1), text: text.into() });
    }
    Expansion { entries, unreached, touching, crowded: budget.is_full() }
}

/// An entry point of the program.
enum EntryPoint<'w> {
    /// A handler of several tools is entered once for each, by the way that its dispatch takes for that name.
    Tool(FunctionId, &'w Tool, &'w Dispatch),
    /// Any other function.
    Function(FunctionId),
}

/// Every entry point of a program.
struct EntryPoints {
    entries: Vec<Expanded>,
    /// How many functions none of those that are known reaches.
    unreached: usize,
    /// The functions that do something which other calls could notice.
    touching: Touching,
}

fn expanded(program: &mut Program, budget: &mut Budget) -> EntryPoints {
    let mut calls = Calls::new(program);
    program.called_often = std::mem::take(&mut calls.often);
    let ids = (0..).map(FunctionId).zip(&program.functions);
    let mut roots: Vec<FunctionId> =
        ids.filter(|(_, function)| function.role != Role::Helper).map(|(id, _)| id).collect();
    let mut of_handlers = Reached::new(&calls);
    let is_handler = |id: &&FunctionId| {
        matches!(program.function(**id).map(|function| &function.role), Some(Role::Handler(_)))
    };
    roots.iter().filter(is_handler).for_each(|id| of_handlers.from(*id));
    let mut reached = Reached::new(&calls);
    roots.iter().for_each(|id| reached.from(*id));
    let not_reached = program.functions.len().saturating_sub(reached.count());
    let unreached = unreached(program, &calls, &mut reached);
    let dispatches = dispatches(program, &calls);
    let levels = levels(&calls, &reached, program.functions.len());
    let components = levels.iter().flatten().filter(|component| has_many_roots(component)).flatten().copied();
    let again = dispatches.values().flat_map(Dispatch::functions).chain(components);
    let bodies = Bodies::of(program, again);
    let program = &*program;
    let summaries = follow(program, &bodies, &levels, budget);
    let follower = || Follower::new(program, &bodies, &summaries);
    let left_out = left_out(&unreached, &follower());
    roots.extend(unreached);
    let ways =
        |id: &FunctionId| match (program.function(*id).map(|function| &function.role), dispatches.get(id)) {
            (Some(Role::Handler(tools)), Some(dispatch)) => {
                tools.iter().map(|tool| EntryPoint::Tool(*id, tool, dispatch)).collect()
            }
            _ => vec![EntryPoint::Function(*id)],
        };
    let ways: Vec<EntryPoint<'_>> = roots.iter().flat_map(ways).collect();
    let of_way = |way: &EntryPoint<'_>, full: bool| {
        let id = match way {
            EntryPoint::Tool(id, tool, dispatch) => {
                let without = full.then_some(&LeftOut::Everything);
                return of_tool(follower().without(without).crowded(full), *id, tool, dispatch);
            }
            EntryPoint::Function(id) => *id,
        };
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        let (Some(function), Some(summary)) = (program.function(id), summary) else {
            return EntrySet::default();
        };
        let without = if full { Some(&LeftOut::Everything) } else { left_out.get(&id) };
        let whole = || follower().without(without).whole(summary);
        match &function.role {
            Role::Handler(tools) => of_handler(id, &whole(), tools, &summary.cut),
            Role::StartUp => EntrySet::of(start_up(id, &whole())),
            Role::Helper if !summary.held.can_harm(function.interleaving) => EntrySet::default(),
            Role::Helper => EntrySet::of(Vec::from_iter(entry(id, &whole(), Runs::Unreached))),
        }
    };
    let EntrySet { mut entries, cut } = side_by_side(&ways, budget, of_way);
    let part = |(id, tools): &(FunctionId, Vec<Tool>), full: bool| {
        let without = full.then_some(&LeftOut::Everything);
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        let whole = summary.map(|summary| follower().without(without).whole(summary));
        let part = whole.and_then(|whole| entry(*id, &whole, Runs::Part(tools.clone())));
        EntrySet::of(Vec::from_iter(part))
    };
    let cut = not_seen(with_what_is_inside(cut, &summaries), &entries);
    entries.extend(side_by_side(&cut, budget, part).entries);
    let mut seen = Seen::of(entries.iter());
    let withheld = under_locks(&calls, &summaries);
    // Callers first: what is inside them is seen with them.
    for id in
        levels.iter().rev().flatten().flatten().filter(|id| of_handlers.has(**id) && !withheld.has(**id))
    {
        let function = program.function(*id).filter(|function| function.role == Role::Helper);
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get).filter(|_| !budget.is_full());
        let (Some(summary), Some(function), true) = (summary, function, seen.add(*id)) else { continue };
        if summary.held.can_harm(function.interleaving)
            && let Some(entry) = entry(*id, &follower().whole(summary), Runs::Unreached)
        {
            seen.add_inlined(&entry.body);
            budget.take(steps(&entry.body));
            entries.push(entry);
        }
    }
    // What tears something down meets calls, wherever it is called from: a start that is too large to be seen whole may have it inside, and where
    // nothing is known to call the one who does, it made what it tears down, so that there it is not seen as what calls share.
    let mut seen = Seen::of(entries.iter().filter(|entry| entry.runs != Runs::Unreached));
    entries
        .iter()
        .filter(|entry| entry.runs == Runs::Unreached)
        .for_each(|entry| _ = seen.add(entry.function));
    for id in levels.iter().rev().flatten().flatten() {
        let helper = program.function(*id).is_some_and(|function| function.role == Role::Helper);
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get).filter(|_| !budget.is_full());
        let Some(summary) = summary.filter(|summary| helper && tears_down(&summary.body) && seen.add(*id))
        else {
            continue;
        };
        if let Some(entry) = entry(*id, &follower().whole(summary), Runs::Unreached) {
            seen.add_inlined(&entry.body);
            budget.take(steps(&entry.body));
            entries.push(entry);
        }
    }
    let touches = |id: FunctionId| {
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        summary.is_none_or(|summary| summary.held.touches())
    };
    EntryPoints { entries, unreached: not_reached, touching: Touching::of(program, touches) }
}

/// Makes ways side by side, as long as there is room; what is made then has only its own steps.
fn side_by_side<T: Sync>(
    ways: &[T],
    budget: &mut Budget,
    make: impl Fn(&T, bool) -> EntrySet + Sync,
) -> EntrySet {
    let mut found = EntrySet::default();
    for ways in ways.chunks(SIDE_BY_SIDE) {
        let full = budget.is_full();
        let made = ways.par_iter().map(|way| make(way, full)).reduce(EntrySet::default, EntrySet::and);
        budget.take(made.entries.iter().map(|entry| steps(&entry.body)).sum());
        found = found.and(made);
    }
    found
}

/// Follows the calls of everything that is reached, as long as there is budget.
pub(super) fn follow<'p>(
    program: &'p Program,
    bodies: &Bodies,
    levels: &[Vec<Circle>],
    budget: &mut Budget,
) -> Summaries<'p> {
    let summaries: Summaries<'p> = program.functions.iter().map(|_| OnceLock::new()).collect();
    let size = |id: &FunctionId| {
        let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
        summary.map_or(0, |summary| steps(&summary.body))
    };
    for components in levels.iter().flat_map(|level| level.chunks(SIDE_BY_SIDE)) {
        let full = budget.is_full();
        components.par_iter().for_each(|component| {
            let follower = || Follower::new(program, bodies, &summaries).crowded(full);
            if !has_many_roots(component) {
                let mut follower = follower();
                return component.iter().for_each(|id| drop(follower.summary(*id)));
            }
            for root in component {
                let kept = follower().component(component).summary(*root);
                if let (Some(place), Some(kept)) = (summaries.get(root.0 as usize), kept) {
                    place.get_or_init(|| kept);
                }
            }
        });
        budget.take(components.iter().flatten().map(size).sum());
    }
    summaries
}

pub(super) fn entry(id: FunctionId, whole: &Whole<'_>, runs: Runs) -> Option<Expanded> {
    let body = whole.body.clone();
    // What a tool does not do may count as well: rules look for a limit in any of them.
    let matters = if matches!(runs, Runs::Call(_)) { !body.is_empty() } else { acts(&body) };
    matters.then(|| Expanded { function: id, runs, values: whole.infos(), body })
}

/// Whether a body closes something that it did not make, or waits for calls to end.
fn tears_down(body: &Block) -> bool {
    body.iter().any(|effect| match &effect.op {
        Op::Drain { .. } => true,
        Op::Close { handle } => !matches!(handle.root, Root::Value(_)),
        op => op.blocks().any(tears_down),
    })
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

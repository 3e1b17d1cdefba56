//! What a handler has no room for.
//!
//! A tool that does one of several large things may be more than a function is let grow to. What does not fit becomes a way into the
//! program of its own, for the same tools: what happens in it is seen, and what its caller does around it is not.

use std::{collections::BTreeMap, sync::OnceLock};

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::ir::{Block, Effect, FunctionId, Name, Op, Tool};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    calls::{Calls, Reached},
    entries::entry,
    follow::Follower,
    held::called_free,
    summary::{Summaries, Summary},
    tool::{Dispatch, Only},
    whole::Whole,
};

/// How many functions of a dispatch that there was no room for are ways in of their own, for one tool.
const MOST_PARTS: usize = 4;

/// The entry points of the program that were found, and what there was no room for in those of handlers.
#[derive(Default)]
pub(super) struct EntrySet {
    pub(super) entries: Vec<Expanded>,
    /// With the tool that leads there; none for a request that is no tool.
    pub(super) cut: Vec<(FunctionId, Option<Tool>)>,
}

impl EntrySet {
    pub(super) fn of(entries: Vec<Expanded>) -> Self {
        Self { entries, cut: vec![] }
    }

    pub(super) fn and(mut self, mut other: Self) -> Self {
        self.entries.append(&mut other.entries);
        self.cut.append(&mut other.cut);
        self
    }
}

/// A handler of several tools, for one of them.
pub(super) fn of_tool(
    follower: Follower<'_, '_>,
    handler: FunctionId,
    tool: &Tool,
    dispatch: &Dispatch,
) -> EntrySet {
    let mut follower = follower.only(Only::new(&tool.name, dispatch));
    let (mut found, mut pending) = (EntrySet::default(), vec![handler]);
    while let Some(id) = pending.pop() {
        let Some(summary) = follower.summary(id) else { continue };
        let tools = std::slice::from_ref(tool);
        let mut more = of_handler(id, &follower.whole(&summary), tools, &summary.cut);
        if id != handler {
            more.entries.iter_mut().for_each(|part| part.runs = Runs::Part(tools.to_vec()));
        }
        // What tells the tools apart is another one for each, also where there was no room for it.
        more.cut.retain(|(inside, _)| {
            let is_own = dispatch.is_of_it(*inside);
            if is_own {
                pending.push(*inside);
            }
            !is_own
        });
        found = found.and(more);
        if found.entries.len() > MOST_PARTS {
            break;
        }
    }
    found
}

/// A handler as a way in. What there was no room for in it is none where the handler may hold something around it that keeps others
/// out: only what is called where nothing is held.
pub(super) fn of_handler(id: FunctionId, whole: &Whole<'_>, tools: &[Tool], cut: &[FunctionId]) -> EntrySet {
    let cut = called_free(&whole.body, cut);
    let leading = |id: &FunctionId| -> Vec<(FunctionId, Option<Tool>)> {
        match tools {
            [] => vec![(*id, None)],
            tools => tools.iter().map(|tool| (*id, Some(tool.clone()))).collect(),
        }
    };
    EntrySet {
        entries: Vec::from_iter(entry(id, whole, Runs::Call(tools.to_vec()))),
        cut: cut.iter().flat_map(leading).collect(),
    }
}

/// Whether a body takes a lock or opens a transaction anywhere that something else may be in.
fn holds(body: &Block) -> bool {
    let mut effects = body.iter().peekable();
    while let Some(effect) = effects.next() {
        let holds = match &effect.op {
            Op::Acquire { .. } => true,
            Op::Begin { .. } => !effects.peek().is_some_and(|next| is_batch(&next.op)),
            op => op.blocks().any(holds),
        };
        if holds {
            return true;
        }
    }
    false
}

/// Whether a step runs some statements and ends the transaction that they are in: a batch has room for nothing else.
fn is_batch(op: &Op) -> bool {
    let Op::Try { body, .. } = op else { return false };
    let is_statement = |effect: &Effect| {
        matches!(effect.op, Op::Read { .. } | Op::Write { .. } | Op::Delete { .. } | Op::Derive { .. })
    };
    match body.split_last() {
        Some((Effect { op: Op::End { .. }, .. }, statements)) => statements.iter().all(is_statement),
        _ => false,
    }
}

/// What may run under a lock or in a transaction of somebody who calls it.
pub(super) fn under_locks<'c>(calls: &'c Calls, summaries: &Summaries<'_>) -> Reached<'c> {
    let mut under = Reached::new(calls);
    for (id, summary) in (0..).map(FunctionId).zip(summaries) {
        if summary.get().is_some_and(|summary| holds(&summary.body)) {
            under.from(id);
        }
    }
    under
}

/// What there was no room for in a function, without that which something inside may hold a lock or a transaction around: also what is
/// put in later.
fn free<'p>(summary: &Summary<'p>, summaries: &Summaries<'p>) -> Vec<FunctionId> {
    let mut free = summary.cut.clone();
    let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
    let mut pending = vec![summary];
    while let Some(inside) = pending.pop().filter(|_| !free.is_empty()) {
        let called = called_free(&inside.body, &inside.cut);
        free.retain(|id| called.contains(id) || !inside.cut.contains(id));
        let later = inside.later.iter().filter(|id| seen.insert(**id));
        pending.extend(later.filter_map(|id| summaries.get(id.0 as usize)?.get()).map(|later| &**later));
    }
    free
}

/// What there was no room for, with the tools that lead there; and what there was no room for in that.
pub(super) fn with_what_is_inside(
    cut: Vec<(FunctionId, Option<Tool>)>,
    summaries: &Summaries<'_>,
) -> Vec<(FunctionId, Vec<Tool>)> {
    let mut found: BTreeMap<FunctionId, BTreeMap<Option<Name>, Option<Tool>>> = BTreeMap::new();
    // Many tools may lead to the same, so it is looked at once what there was no room for in it.
    let mut inside: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut pending = cut;
    while let Some((id, tool)) = pending.pop() {
        let name = tool.as_ref().map(|tool| tool.name.clone());
        if found.entry(id).or_default().insert(name, tool.clone()).is_some() {
            continue;
        }
        let inside = inside.entry(id).or_insert_with(|| {
            let summary = summaries.get(id.0 as usize).and_then(OnceLock::get);
            summary.map_or(vec![], |summary| free(summary, summaries))
        });
        pending.extend(inside.iter().map(|inside| (*inside, tool.clone())));
    }
    found.into_iter().map(|(id, tools)| (id, tools.into_values().flatten().collect())).collect()
}

/// Of what there was no room for, that which is seen inside of no tool at all.
pub(super) fn not_seen(
    mut cut: Vec<(FunctionId, Vec<Tool>)>,
    entries: &[Expanded],
) -> Vec<(FunctionId, Vec<Tool>)> {
    if cut.is_empty() {
        return cut;
    }
    // What a request that is no tool has room for is not seen of a tool yet.
    let (mut by_tools, mut by_others) = (FxHashSet::default(), FxHashSet::default());
    for entry in entries {
        match &entry.runs {
            Runs::Call(tools) | Runs::Part(tools) if tools.is_empty() => {
                followed(&entry.body, &mut by_others)
            }
            Runs::Call(_) | Runs::Part(_) => followed(&entry.body, &mut by_tools),
            _ => {}
        }
    }
    cut.retain(|(id, tools)| !by_tools.contains(id) && (!tools.is_empty() || !by_others.contains(id)));
    cut
}

/// The functions that are looked at: entry points, and what was inlined into one.
pub(super) struct Seen(FxHashSet<FunctionId>);

impl Seen {
    pub(super) fn of<'e>(entries: impl Iterator<Item = &'e Expanded>) -> Self {
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        for entry in entries {
            seen.insert(entry.function);
            followed(&entry.body, &mut seen);
        }
        Self(seen)
    }

    /// Adds a function; `false` if it was there.
    pub(super) fn add(&mut self, id: FunctionId) -> bool {
        self.0.insert(id)
    }

    /// Adds what was inlined into a body.
    pub(super) fn add_inlined(&mut self, body: &Block) {
        followed(body, &mut self.0);
    }
}

fn followed(body: &Block, seen: &mut FxHashSet<FunctionId>) {
    for effect in body {
        if let Op::Inlined { function, .. } = &effect.op {
            seen.insert(*function);
        }
        effect.op.blocks().for_each(|block| followed(block, seen));
    }
}

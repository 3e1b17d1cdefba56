//! What cannot matter to any rule is left out: names of things that nobody else sees, decisions about nothing, values that nobody uses.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Effect, Exit, Field, Op, Resource, Value, WriteMode,
};

use super::{
    bind::Values,
    later::{Done, Later},
    local::Locals,
    marks::Marks,
    parts::Parts,
    returns::Returned,
    slice::slice,
    uses::uses,
};

/// What is left of a function.
pub(super) struct Pruned {
    /// How many steps.
    pub(super) size: usize,
    /// What it returns.
    pub(super) returned: Option<Returned>,
    /// The values that matter.
    pub(super) live: Marks,
    /// Whether a connection, process or listener starts to exist here.
    opens: bool,
}

/// Prunes the body of a function. Values in `keep` are the function's parameters and captures.
pub(super) fn prune<'p>(
    body: &mut Block,
    values: &Values<'p>,
    keep: &[Value],
    done: &impl Done<'p>,
) -> Pruned {
    let infos = &values.infos;
    let parts = Parts::of(body, values);
    parts.resolve(body);
    let local = Locals::of(body, infos, keep, done);
    local.localise(body);
    let mut returned = Returned::by(body, done);
    if let Some(returned) = &mut returned
        && let Some(whole) = returned.whole
    {
        returned.hand_on(&parts.members_of(whole));
    }
    slice(body, local.opens);
    let live = live(body, infos.len(), returned.iter().flat_map(Returned::values));
    Pruned { size: sweep(body, &live, done), returned, live, opens: local.opens }
}

/// Takes out of a pruned body what has become a decision about nothing since: what dissolves takes with it what only led there.
pub(super) fn prune_again<'p>(body: &mut Block, pruned: &Pruned, values: usize, done: &impl Done<'p>) {
    slice(body, pruned.opens);
    let live = live(body, values, pruned.returned.iter().flat_map(Returned::values));
    sweep(body, &live, done);
}

/// Whether nothing in a body matters but what it returns.
pub(super) fn is_silent(body: &Block) -> bool {
    body.iter().all(|effect| match &effect.op {
        Op::Derive { .. }
        | Op::New { .. }
        | Op::Closure { .. }
        | Op::Exit(Exit::Return(_) | Exit::Break | Exit::Continue) => true,
        Op::Check { .. } | Op::Loop { .. } | Op::Try { .. } | Op::Inlined { .. } => {
            effect.op.blocks().all(is_silent)
        }
        // What is unknown, not waited for and given no function computes something.
        Op::Call { callee: Callee::Named(_), awaited: false, arguments, .. } => {
            !arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. }))
        }
        _ => false,
    })
}

/// The values that something other than computing uses, those in `wanted`, and everything they were computed from.
fn live(body: &Block, values: usize, wanted: impl Iterator<Item = Value>) -> Marks {
    let mut inputs = Inputs::new(values);
    let mut used: Vec<Value> = wanted.collect();
    let mut mentioned: Vec<Value> = vec![];
    let mut emptied: Vec<&AccessPath> = vec![];
    backwards(body, &mut |effect| {
        if let Some(place) = empties(&effect.op) {
            emptied.push(place);
        }
        let into = match &effect.op {
            Op::Derive { into, from, term } => {
                mentioned.extend(from);
                term.mention(&mut mentioned);
                into
            }
            // What a function takes along lives as long as somebody may call it.
            Op::Closure { into, captures, .. } => {
                captures.iter().for_each(|term| term.mention(&mut mentioned));
                into
            }
            // Looking at memory matters as far as something comes of it.
            op @ Op::Read { into, of: Resource::Shared(seen), .. } => {
                uses(op, &mut mentioned);
                // What is sent is not told by the step that sends it. What was there before it is thrown away may have been.
                if emptied.iter().any(|place| is_all_of(seen, place)) {
                    used.push(*into);
                }
                into
            }
            op => {
                uses(op, &mut used);
                return;
            }
        };
        mentioned.drain(..).for_each(|from| inputs.add(*into, from));
    });
    let mut live = Marks::new(values);
    while let Some(value) = used.pop() {
        if live.insert(value) {
            used.extend(inputs.of(value));
        }
    }
    live
}

/// The place in memory that a step leaves empty.
fn empties(op: &Op) -> Option<&AccessPath> {
    match op {
        Op::Write { to: Resource::Shared(place), mode: WriteMode::Blind, from, .. } if from.is_empty() => {
            Some(place)
        }
        Op::Delete { of: Resource::Shared(place), .. } => Some(place),
        _ => None,
    }
}

/// Whether all of a place was looked at, where its `length` stands for it.
fn is_all_of(seen: &AccessPath, place: &AccessPath) -> bool {
    let all = match place.fields.as_slice() {
        [rest @ .., Field::Name(name)] if &**name == "length" => rest,
        all => all,
    };
    seen.root == place.root && seen.fields.as_slice() == all
}

/// What each value was computed from, as linked lists in one piece of memory.
struct Inputs {
    /// For each value, the number of its last entry and one.
    last: Vec<u32>,
    /// What it was computed from, and the entry before this one.
    entries: Vec<(Value, u32)>,
}

impl Inputs {
    fn new(values: usize) -> Self {
        Self { last: vec![0; values], entries: Vec::with_capacity(values + values / 2) }
    }

    fn add(&mut self, into: Value, from: Value) {
        if let Some(last) = self.last.get_mut(into.0 as usize) {
            self.entries.push((from, *last));
            *last = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        }
    }

    fn of(&self, value: Value) -> impl Iterator<Item = Value> {
        let entry = |number: u32| self.entries.get((number as usize).checked_sub(1)?).copied();
        let first = self.last.get(value.0 as usize).copied().and_then(entry);
        std::iter::successors(first, move |(_, before)| entry(*before)).map(|(from, _)| from)
    }
}

/// Drops what is not live and what has become empty. Says how many steps are left.
fn sweep<'p>(block: &mut Block, live: &Marks, done: &impl Done<'p>) -> usize {
    let mut left = 0;
    block.retain_mut(|effect| {
        let inside = match &mut effect.op {
            Op::Derive { into, .. }
            | Op::New { into, .. }
            | Op::Closure { into, .. }
            | Op::Read { into, of: Resource::Shared(_), .. } => live.has(*into).then_some(0),
            Op::Check { then, otherwise, .. } => {
                let inside = sweep(then, live, done) + sweep(otherwise, live, done);
                (inside > 0).then_some(inside)
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => {
                let inside = sweep(body, live, done);
                (inside > 0).then_some(inside)
            }
            Op::Together { branches } => {
                let mut inside = 0;
                branches.retain_mut(|branch| {
                    let size = sweep(branch, live, done);
                    inside += size;
                    size > 0
                });
                (inside > 0).then_some(inside)
            }
            Op::Try { body, catch, finally } => {
                let inside = sweep(body, live, done);
                let caught = catch.as_mut().map_or(0, |catch| sweep(&mut catch.body, live, done));
                let inside = inside + sweep(finally, live, done);
                (inside > 0).then_some(inside + caught)
            }
            op => Some(Later::of(op).map_or(0, |later| later_size(&later, done))),
        };
        left += inside.map_or(0, |inside| inside + 1);
        inside.is_some()
    });
    left
}

/// How many steps a body has, with those that are put in later.
pub(super) fn size<'p>(body: &Block, done: &impl Done<'p>) -> usize {
    let step = |op: &Op| match Later::of(op) {
        Some(later) => 1 + later_size(&later, done),
        None => 1 + op.blocks().map(|block| size(block, done)).sum::<usize>(),
    };
    body.iter().map(|effect| step(&effect.op)).sum()
}

/// How many steps come in place of one, besides that one.
fn later_size<'p>(later: &Later<'_>, done: &impl Done<'p>) -> usize {
    if later.compact {
        return 0;
    }
    done.done(later.function).map_or(0, |summary| summary.size.saturating_sub(1))
}

/// Visits every step, the last first; one with blocks before the steps in them.
pub(super) fn backwards<'b>(block: &'b Block, visit: &mut impl FnMut(&'b Effect)) {
    for effect in block.iter().rev() {
        visit(effect);
        effect.op.blocks().rev().for_each(|inner| backwards(inner, visit));
    }
}

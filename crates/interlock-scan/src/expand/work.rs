//! A function that is being expanded, and how large it may grow.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::ir::{Block, FunctionId, Op};

use super::{
    bind::Values,
    compact::Compact,
    later::{Done, Later},
    prune::size,
    summary::Summary,
};

/// How many steps a function may grow to. What is beyond stays a call.
const MOST_STEPS: usize = 2_200;
/// What does no more than this around a call is no reason to leave the call out,
const THIN: usize = 40;
/// as long as it comes to no more than this: wrappers may be wrapped without end.
const MOST_STEPS_WRAPPED: usize = 3_300;
/// So many steps of compact summaries are put into an entry point besides.
pub(super) const MOST_COMPACTED: usize = 240;
/// From this many steps on, something large is followed once and no more: what reports usage is called from everywhere.
const ENOUGH_STEPS: usize = 700;
/// It is followed on no more ways than this beside each other, and on one if nobody waits for it;
const MOST_WAYS: usize = 2;
/// from this many steps on, everything is followed on one.
const CROWDED_STEPS: usize = 1_400;
/// How many steps are large.
const LARGE: usize = 150;
/// How often something is followed before it counts as large with far fewer steps: a logger that is told everything.
const OFTEN: usize = 3;
const LARGE_IF_OFTEN: usize = 18;

/// More ways than anything is followed on.
const ASIDE: usize = usize::MAX;

/// A large function that was followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Large {
    pub(super) function: FunctionId,
    /// Whether nobody waits for it: it reports what happens, and is called from everywhere.
    aside: bool,
}

/// A function that is being expanded.
pub(super) struct Work<'p> {
    pub(super) values: Values<'p>,
    pub(super) size: usize,
    /// How many steps of compact summaries have been put in.
    compacted: usize,
    /// The large functions that have been followed so far, on the way to here.
    large: BTreeSet<FunctionId>,
    /// The same in the order in which they came.
    order: Vec<FunctionId>,
    /// Those on ways that do not lead here.
    elsewhere: Vec<FunctionId>,
    /// On how many ways each was followed.
    ways: BTreeMap<FunctionId, usize>,
    /// How often each function has been followed so far.
    followed: BTreeMap<FunctionId, usize>,
    /// What there was no room for, here or in what was followed.
    pub(super) cut: BTreeSet<FunctionId>,
    /// Whether the copy that is being made leaves those out.
    pub(super) lean: bool,
    /// Whether the copy that is being made has everything in it that is put in later.
    pub(super) whole: bool,
}

/// How a call is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// With everything in it.
    Whole,
    /// Without the large functions in it that have been followed before.
    Lean,
    /// Not at all: it has been followed before.
    Again,
    /// Not at all: there is no room for it.
    TooLarge,
}

impl<'p> Work<'p> {
    pub(super) fn new(values: Values<'p>) -> Self {
        Self {
            values,
            size: 0,
            compacted: 0,
            large: BTreeSet::new(),
            order: vec![],
            elsewhere: vec![],
            ways: BTreeMap::new(),
            followed: BTreeMap::new(),
            cut: BTreeSet::new(),
            lean: false,
            whole: false,
        }
    }

    /// The large functions that have been followed, on whichever way.
    pub(super) fn large(&mut self) -> Vec<Large> {
        self.large.extend(std::mem::take(&mut self.elsewhere));
        let aside = |function| self.ways.get(&function).is_some_and(|ways| *ways == ASIDE);
        std::mem::take(&mut self.large)
            .into_iter()
            .map(|function| Large { function, aside: aside(function) })
            .collect()
    }

    /// Where two ways part of which one is taken.
    pub(super) const fn fork(&self) -> usize {
        self.order.len()
    }

    /// Goes back to where two ways parted: what was followed on one of them is no reason to leave it out on the other.
    pub(super) fn back(&mut self, fork: usize) -> Vec<FunctionId> {
        if self.size > CROWDED_STEPS || self.order.len() <= fork {
            return vec![];
        }
        let (mut way, mut enough) = (vec![], vec![]);
        for function in self.order.drain(fork..) {
            if self.ways.get(&function).is_none_or(|ways| *ways < MOST_WAYS) {
                self.large.remove(&function);
                way.push(function);
            } else {
                enough.push(function);
            }
        }
        self.order.append(&mut enough);
        way
    }

    /// Behind two ways, of what was followed on them: only ways that lead on lead here.
    pub(super) fn join(&mut self, way: Vec<FunctionId>, leads_on: bool) {
        if leads_on {
            for function in way {
                self.add(function);
            }
        } else {
            self.elsewhere.extend(way);
        }
    }

    /// Remembers a large function; `true` if it is new on this way.
    fn add(&mut self, function: FunctionId) -> bool {
        let new = self.large.insert(function);
        if new {
            self.order.push(function);
        }
        new
    }

    /// How a function fits in.
    pub(super) fn fit(&self, function: FunctionId, summary: &Summary<'_>, done: &impl Done<'p>) -> Fit {
        let lean = self.size + summary.size > ENOUGH_STEPS;
        if lean && self.large.contains(&function) {
            return Fit::Again;
        }
        let limit = if self.size > THIN { MOST_STEPS } else { MOST_STEPS_WRAPPED };
        match (lean, self.size + self.added(summary, lean, done) > limit) {
            (_, true) => Fit::TooLarge,
            (true, false) => Fit::Lean,
            (false, false) => Fit::Whole,
        }
    }

    /// Whether a function that does not fit has been inlined before, so that its compact summary is enough.
    pub(super) fn is_second(&self, function: FunctionId, fit: Fit) -> bool {
        fit == Fit::Again || self.followed.contains_key(&function)
    }

    /// Whether there is room for the steps of a compact summary. It is taken then.
    pub(super) fn takes(&mut self, compact: &Compact<'_>) -> bool {
        let takes = self.compacted + compact.body.len() <= MOST_COMPACTED;
        if takes {
            self.compacted += compact.body.len();
        }
        takes
    }

    /// How many steps a function would add.
    fn added(&self, summary: &Summary<'_>, lean: bool, done: &impl Done<'p>) -> usize {
        if lean && self.is_thinned_by_lean_copy(summary) {
            self.kept(&summary.body, done)
        } else {
            summary.size
        }
    }

    /// Whether a lean copy of a function leaves something out.
    pub(super) fn is_thinned_by_lean_copy(&self, summary: &Summary<'_>) -> bool {
        summary.large.iter().any(|inside| self.large.contains(&inside.function))
    }

    /// How many steps a lean copy keeps.
    fn kept(&self, body: &Block, done: &impl Done<'p>) -> usize {
        let step = |op: &Op| match op {
            Op::Inlined { function, .. } if self.large.contains(function) => 1,
            op => {
                match Later::of(op).filter(|later| !later.compact).and_then(|later| done.done(later.function))
                {
                    Some(summary) => self.added(summary, true, done),
                    None => 1 + op.blocks().map(|block| self.kept(block, done)).sum::<usize>(),
                }
            }
        };
        body.iter().map(|effect| step(&effect.op)).sum()
    }

    /// Notes what was followed, and whether it is waited for.
    pub(super) fn note(&mut self, function: FunctionId, summary: &Summary<'_>, detached: bool) {
        self.cut.extend(&summary.cut);
        let times = self.followed.entry(function).or_default();
        *times += 1;
        let is_large = summary.size >= if *times >= OFTEN { LARGE_IF_OFTEN } else { LARGE };
        let own = is_large.then_some(Large { function, aside: false });
        for Large { function, aside } in summary.large.iter().copied().chain(own) {
            let new = self.add(function);
            let ways = self.ways.entry(function).or_default();
            *ways = if aside || detached { ASIDE } else { ways.saturating_add(usize::from(new)) };
        }
    }

    /// Whether a call that was followed inside of what is being copied is left out. Its steps do not count then.
    pub(super) fn leaves_out(&mut self, function: FunctionId, body: &Block, done: &impl Done<'p>) -> bool {
        let out = self.lean && self.large.contains(&function);
        if out {
            self.size = self.size.saturating_sub(size(body, done));
        }
        out
    }
}

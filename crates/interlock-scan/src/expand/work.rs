//! A function that is being expanded, and how large it may grow.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::ir::{Block, FunctionId, Op};

use super::{
    bind::Values,
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
/// From this many steps on, something large is followed once and no more: what reports usage is called from everywhere.
const ENOUGH_STEPS: usize = 700;
/// How many steps are large.
const LARGE: usize = 150;
/// How often something is followed before it counts as large with far fewer steps: a logger that is told everything.
const OFTEN: usize = 3;
const LARGE_IF_OFTEN: usize = 18;

/// A function that is being expanded.
pub(super) struct Work<'p> {
    pub(super) values: Values<'p>,
    pub(super) size: usize,
    /// The large functions that have been followed so far.
    pub(super) large: BTreeSet<FunctionId>,
    /// How often each function has been followed so far.
    followed: BTreeMap<FunctionId, usize>,
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
    /// Not at all.
    Not,
}

impl<'p> Work<'p> {
    pub(super) fn new(values: Values<'p>) -> Self {
        Self { values, size: 0, large: BTreeSet::new(), followed: BTreeMap::new(), lean: false, whole: false }
    }

    /// How a function fits in.
    pub(super) fn fit(&self, function: FunctionId, summary: &Summary<'_>, done: &impl Done<'p>) -> Fit {
        let lean = self.size + summary.size > ENOUGH_STEPS;
        if lean && self.large.contains(&function) {
            return Fit::Not;
        }
        let limit = if self.size > THIN { MOST_STEPS } else { MOST_STEPS_WRAPPED };
        match (lean, self.size + self.added(summary, lean, done) > limit) {
            (_, true) => Fit::Not,
            (true, false) => Fit::Lean,
            (false, false) => Fit::Whole,
        }
    }

    /// How many steps a function would add.
    fn added(&self, summary: &Summary<'_>, lean: bool, done: &impl Done<'p>) -> usize {
        if lean && self.thins(summary) { self.kept(&summary.body, done) } else { summary.size }
    }

    /// Whether a lean copy of a function leaves something out.
    pub(super) fn thins(&self, summary: &Summary<'_>) -> bool {
        summary.large.iter().any(|inside| self.large.contains(inside))
    }

    /// How many steps a lean copy keeps.
    fn kept(&self, body: &Block, done: &impl Done<'p>) -> usize {
        let step = |op: &Op| match op {
            Op::Inlined { function, .. } if self.large.contains(function) => 1,
            op => match Later::of(op).and_then(|later| done.done(later.function)) {
                Some(summary) => self.added(summary, true, done),
                None => 1 + op.blocks().map(|block| self.kept(block, done)).sum::<usize>(),
            },
        };
        body.iter().map(|effect| step(&effect.op)).sum()
    }

    /// Notes what was followed.
    pub(super) fn note(&mut self, function: FunctionId, summary: &Summary<'_>) {
        let times = self.followed.entry(function).or_default();
        *times += 1;
        let is_large = summary.size >= if *times >= OFTEN { LARGE_IF_OFTEN } else { LARGE };
        self.large.extend(summary.large.iter().chain(is_large.then_some(&function)));
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

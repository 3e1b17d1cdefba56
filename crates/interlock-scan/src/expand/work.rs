//! A function that is being expanded, and how large it may grow.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::ir::{Block, FunctionId, Op};

use super::{bind::Values, prune::size, summary::Summary};

/// How many steps a function may grow to. What is beyond stays a call.
const MOST_STEPS: usize = 2_000;
/// What does no more than this around a call is no reason to leave the call out,
const THIN: usize = 40;
/// as long as it comes to no more than this: wrappers may be wrapped without end.
const MOST_STEPS_WRAPPED: usize = 3_000;
/// From this many steps on, something large is followed once and no more: what reports usage is called from everywhere.
const ENOUGH_STEPS: usize = 650;
/// How many steps are large.
const LARGE: usize = 130;
/// How often something is followed before it counts as large with far fewer steps: a logger that is told everything.
const OFTEN: usize = 3;
const LARGE_IF_OFTEN: usize = 15;

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
        Self { values, size: 0, large: BTreeSet::new(), followed: BTreeMap::new(), lean: false }
    }

    /// How a function fits in.
    pub(super) fn fit(&self, function: FunctionId, summary: &Summary<'_>) -> Fit {
        let lean = self.size + summary.size > ENOUGH_STEPS;
        if lean && self.large.contains(&function) {
            return Fit::Not;
        }
        let limit = if self.size > THIN { MOST_STEPS } else { MOST_STEPS_WRAPPED };
        match (lean, self.size + self.added(summary, lean) > limit) {
            (_, true) => Fit::Not,
            (true, false) => Fit::Lean,
            (false, false) => Fit::Whole,
        }
    }

    /// How many steps a function would add.
    fn added(&self, summary: &Summary<'_>, lean: bool) -> usize {
        if lean && summary.large.iter().any(|inside| self.large.contains(inside)) {
            self.kept(&summary.body)
        } else {
            summary.size
        }
    }

    /// How many steps a lean copy keeps.
    fn kept(&self, body: &Block) -> usize {
        let step = |op: &Op| match op {
            Op::Inlined { function, .. } if self.large.contains(function) => 1,
            op => 1 + op.blocks().map(|block| self.kept(block)).sum::<usize>(),
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
    pub(super) fn leaves_out(&mut self, function: FunctionId, body: &Block) -> bool {
        let out = self.lean && self.large.contains(&function);
        if out {
            self.size = self.size.saturating_sub(size(body));
        }
        out
    }
}

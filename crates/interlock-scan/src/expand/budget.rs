//! How many steps there is room for in all.
//!
//! A function may only grow to a number of steps, but there may be any number of functions: a tree that was made for it would come to
//! thousands of times its own size. So what all of them come to together is bounded by the size of the program, far above what real
//! ones need. Where there is no room left, calls stay what they are.

use interlock_model::ir::{Block, Program};

/// There is room for so many steps, however small a program is,
const LEAST: usize = 400_000;
/// and for so many more for each of its own.
const FOR_EACH: usize = 8;

/// How many functions or ways are followed before it is asked again whether the budget is used up: so many run side by side, and how many
/// threads there are makes no difference.
pub(super) const SIDE_BY_SIDE: usize = 128;

/// The room that is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget(usize);

impl Budget {
    /// The room for a program.
    pub(super) fn of(program: &Program) -> Self {
        let steps: usize = program.functions.iter().map(|function| steps(&function.body)).sum();
        Self(LEAST.saturating_add(steps.saturating_mul(FOR_EACH)))
    }

    /// Whether there is none left.
    pub(super) const fn is_full(self) -> bool {
        self.0 == 0
    }

    /// Takes room for some steps.
    pub(super) const fn take(&mut self, steps: usize) {
        self.0 = self.0.saturating_sub(steps);
    }
}

/// How many steps a block has.
pub(super) fn steps(block: &Block) -> usize {
    block.iter().map(|effect| 1 + effect.op.blocks().map(steps).sum::<usize>()).sum()
}

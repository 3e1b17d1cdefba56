//! Strongly connected components: functions that call each other in a circle.
//!
//! ```text
//! tool one ──▶ a ──▶ b ──▶ a …        a summary of `b` that was made while `a` was under way has nothing of `a` in it,
//! tool two ──▶ b ──▶ a ──▶ b …        so `b` is summarised once more, as the root
//! ```
//!
//! Each member is the root once: the others are summarised anew for it, each time up to where the component closes, and only the root's
//! summary is kept. That takes the square of their number, so very large components (visitors of syntax trees) are summarised once, and
//! where their components close calls stay calls, which the coverage counts.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::FunctionId;
use rustc_hash::FxHashMap;

use super::summary::Summary;

/// Of larger components not every member is a root.
pub(super) const MOST_ROOTS: usize = 48;

/// What the members of a component come to while one of them is the root.
pub(super) struct Component<'p>(FxHashMap<FunctionId, OnceLock<Arc<Summary<'p>>>>);

impl<'p> Component<'p> {
    pub(super) fn new(members: &[FunctionId]) -> Self {
        Self(members.iter().map(|id| (*id, OnceLock::new())).collect())
    }

    /// Where the summary of a member belongs; `None` for other functions.
    pub(super) fn place(&self, id: FunctionId) -> Option<&OnceLock<Arc<Summary<'p>>>> {
        self.0.get(&id)
    }
}

/// Whether each member of a component is summarised as its root.
pub(super) fn has_many_roots(members: &[FunctionId]) -> bool {
    (2..=MOST_ROOTS).contains(&members.len())
}

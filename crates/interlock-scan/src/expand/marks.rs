//! A set of the values of one function.

use interlock_model::ir::Value;

/// Which of a function's values are marked. Values are numbered without gaps, so that a list serves as a set.
pub(super) struct Marks(Vec<bool>);

impl Marks {
    pub(super) fn new(values: usize) -> Self {
        Self(vec![false; values])
    }

    pub(super) fn has(&self, value: Value) -> bool {
        self.0.get(value.0 as usize).copied().unwrap_or(false)
    }

    /// Whether it is new. What is no value of the function is not.
    pub(super) fn insert(&mut self, value: Value) -> bool {
        self.0.get_mut(value.0 as usize).is_some_and(|mark| !std::mem::replace(mark, true))
    }

    pub(super) fn remove(&mut self, value: Value) {
        if let Some(mark) = self.0.get_mut(value.0 as usize) {
            *mark = false;
        }
    }
}

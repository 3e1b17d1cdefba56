//! The last refusals.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use super::super::{table::Keys, tally::Reason};
use crate::call::Caller;

/// How many are remembered.
const MOST: usize = 50;

/// The last refusals, oldest first.
#[derive(Debug, Default)]
pub(in crate::ops) struct Recent(Mutex<VecDeque<Refused>>);

/// A call that was refused, or would have been.
#[derive(Debug, Clone)]
pub(in crate::ops) struct Refused {
    /// When.
    pub(in crate::ops) at: SystemTime,
    /// Who called.
    pub(in crate::ops) caller: Caller,
    /// Which tool.
    pub(in crate::ops) tool: Arc<str>,
    /// Why.
    pub(in crate::ops) reason: Reason,
    /// Whether it ran all the same.
    pub(in crate::ops) is_observed: bool,
    /// Its keys.
    pub(in crate::ops) keys: Keys,
}

impl Recent {
    /// Remembers one.
    pub(in crate::ops) fn push(&self, refused: Refused) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = if all.len() >= MOST { all.pop_front() } else { None };
        all.push_back(refused);
        drop(all);
        drop(gone);
    }

    /// The last ones, newest first.
    pub(in crate::ops) fn read(&self) -> Vec<Refused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }
}

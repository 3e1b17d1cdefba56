//! What is counted of each tool. Tools that an upstream listed have a row of their own; of the names that only callers use a few have,
//! and the rest is counted together, because whoever calls can make names up.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, atomic::AtomicU64},
};

use foldhash::fast::RandomState;

use super::{Gauge, histogram::Histogram, names::MOST};

/// How many tools that were listed have a row.
const LISTED: usize = 500;
/// How many others have one.
const UNLISTED: usize = 50;
/// The longest name of a tool that has a row, in bytes. The protocol wants at most 128 characters.
const LONGEST: usize = 200;
/// What names without a row are counted under.
const OTHER: &str = "other";

/// All rows.
#[derive(Debug, Default)]
pub(in crate::ops) struct Tools {
    rows: RwLock<Rows>,
    other: Arc<Tool>,
}

#[derive(Debug, Default)]
struct Rows {
    by_name: HashMap<Box<str>, Arc<Tool>, RandomState>,
    unlisted: usize,
}

/// What is counted of one tool.
#[derive(Debug, Default)]
pub(in crate::ops) struct Tool {
    /// Calls that run by right.
    pub(in crate::ops) granted: AtomicU64,
    /// Calls that got an answer of before.
    pub(in crate::ops) replayed: AtomicU64,
    /// Calls that were refused, by reason.
    pub(in crate::ops) refused: [AtomicU64; MOST],
    /// Calls that would have been, by reason.
    pub(in crate::ops) observed: [AtomicU64; MOST],
    /// Calls without an idempotency key, where a rule asks for one.
    pub(in crate::ops) without_key: AtomicU64,
    /// Calls that ended well.
    pub(in crate::ops) answered: AtomicU64,
    /// Calls that ended with an error.
    pub(in crate::ops) failed: AtomicU64,
    /// Calls that were cancelled, held nothing, and were not answered.
    pub(in crate::ops) cancelled: AtomicU64,
    /// Calls of which nobody knows how they ended.
    pub(in crate::ops) unknown: AtomicU64,
    /// Calls that run now.
    pub(in crate::ops) in_flight: Gauge,
    /// Calls that wait now.
    pub(in crate::ops) waiting: Gauge,
    /// How long calls waited before it was decided over them.
    pub(in crate::ops) waits: Histogram,
    /// How long the upstream took.
    pub(in crate::ops) durations: Histogram,
}

impl Tools {
    /// The row of a tool, or that of all others.
    pub(in crate::ops) fn of(&self, name: &str) -> Arc<Tool> {
        if let Some(row) = self.rows.read().unwrap_or_else(PoisonError::into_inner).by_name.get(name) {
            return Arc::clone(row);
        }
        // A tool that is really called `other` is counted there, too: two rows with one name would be no metrics at all.
        if name.len() > LONGEST || name == OTHER {
            return Arc::clone(&self.other);
        }
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = rows.by_name.get(name) {
            return Arc::clone(row);
        }
        if rows.unlisted >= UNLISTED {
            return Arc::clone(&self.other);
        }
        rows.unlisted += 1;
        Arc::clone(rows.by_name.entry(name.into()).or_default())
    }

    /// Makes rows for tools that an upstream listed.
    pub(in crate::ops) fn list(&self, names: &[&str]) {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        for name in names.iter().filter(|name| name.len() <= LONGEST && **name != OTHER) {
            if rows.by_name.len() - rows.unlisted >= LISTED {
                return;
            }
            if !rows.by_name.contains_key(*name) {
                rows.by_name.insert((*name).into(), Arc::default());
            }
        }
    }

    /// All rows, by name, the others last.
    pub(super) fn read(&self) -> Vec<(Box<str>, Arc<Tool>)> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> =
            rows.by_name.iter().map(|(name, row)| (name.clone(), Arc::clone(row))).collect();
        drop(rows);
        all.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        all.push((OTHER.into(), Arc::clone(&self.other)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_callers_make_up_leave_room_for_tools_that_exist() {
        let tools = Tools::default();
        for n in 0..10_000 {
            tools.of(&format!("made-up-{n}"));
        }
        assert_eq!(tools.read().len(), UNLISTED + 1);
        tools.list(&["real"]);
        assert!(!Arc::ptr_eq(&tools.of("real"), &tools.of("made-up-9999")));
        assert!(Arc::ptr_eq(&tools.of("other"), &tools.of("made-up-9999")));
    }

    #[test]
    fn an_upstream_that_lists_without_end_has_an_end_here() {
        let tools = Tools::default();
        let names: Vec<_> = (0..10_000).map(|n| format!("tool-{n}")).collect();
        tools.list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(tools.read().len(), LISTED + 1);
    }
}

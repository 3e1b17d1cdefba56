//! The calls that are here now: waiting, or let through and not ended. Every event of a call comes past here, so the table is in parts
//! that are locked one at a time and briefly.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use foldhash::fast::RandomState;
use interlock_sync::store::{Fence, OpId};

use crate::call::{Caller, ToolCall};

use super::{
    tally::Tool,
    text::{LONGEST, clip},
};

/// Into how many parts the table is divided.
const PARTS: usize = 32;
/// How many keys of a call are kept; a policy has one or two.
pub(super) const KEYS: usize = 8;

/// All calls that are here.
#[derive(Debug)]
pub(super) struct Table {
    parts: [Mutex<Part>; PARTS],
}

type Part = HashMap<u128, Here, RandomState>;

/// A call that is here.
#[derive(Debug)]
pub(super) struct Here {
    /// Who calls.
    pub(super) caller: Caller,
    /// What.
    pub(super) tool: Arc<str>,
    /// Where.
    pub(super) upstream: Arc<str>,
    /// Where it is counted.
    pub(super) row: Arc<Tool>,
    /// When it came.
    pub(super) arrived: Instant,
    /// What it does.
    pub(super) phase: Phase,
}

/// What a call does.
#[derive(Debug)]
pub(super) enum Phase {
    /// It came, and nothing is known yet.
    New,
    /// It stands in line.
    Waits {
        /// For what.
        on: Keys,
        /// Behind how many.
        ahead: u32,
    },
    /// It runs.
    Runs {
        /// Under which keys.
        keys: Keys,
        /// With which fence.
        fence: Option<Fence>,
        /// Whether a rule that only observes would have held it up.
        is_observed: bool,
        /// Since when.
        since: Instant,
    },
}

/// A few keys, each cut to a length.
pub(super) type Keys = Box<[Box<str>]>;

impl Default for Table {
    fn default() -> Self {
        Self { parts: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl Table {
    /// Takes a call in.
    pub(super) fn arrive(&self, id: OpId, call: &ToolCall, row: Arc<Tool>, now: Instant) {
        let here = Here {
            caller: call.caller.clone(),
            tool: Arc::clone(&call.tool),
            upstream: Arc::clone(&call.upstream),
            row,
            arrived: now,
            phase: Phase::New,
        };
        self.part(id).insert(id.0, here);
    }

    /// Looks at a call, and may change it.
    pub(super) fn with<T>(&self, id: OpId, look: impl FnOnce(&mut Here) -> T) -> Option<T> {
        self.part(id).get_mut(&id.0).map(look)
    }

    /// Lets a call go.
    pub(super) fn leave(&self, id: OpId) -> Option<Here> {
        let mut part = self.part(id);
        let here = part.remove(&id.0);
        // After a flood the room goes back; a part that is used all the time keeps a little.
        if part.capacity() > 256 && part.len() < part.capacity() / 8 {
            part.shrink_to(64);
        }
        here
    }

    /// Shows all calls, in no order.
    pub(super) fn each(&self, mut look: impl FnMut(u128, &Here)) {
        for part in &self.parts {
            for (id, here) in part.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                look(*id, here);
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "the remainder is less than the number of parts")]
    fn part(&self, id: OpId) -> MutexGuard<'_, Part> {
        // Ids may count up or be drawn, in either half; the product's high bits depend on all of them.
        let folded = (id.0 as u64 ^ (id.0 >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.parts[(folded >> 32) as usize % PARTS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the first keys of a list.
pub(super) fn keep(keys: &[String]) -> Keys {
    keys.iter().take(KEYS).map(|key| clip(key).into()).collect()
}

/// Whether the keys that were kept are those.
pub(super) fn is_same(kept: &Keys, keys: &[String]) -> bool {
    kept.len() == keys.len().min(KEYS)
        && kept.iter().zip(keys).all(|(kept, key)| key.len() > LONGEST || **kept == **key)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn call() -> ToolCall {
        ToolCall {
            caller: Caller::stdio(),
            reader: None,
            upstream: "u".into(),
            tool: "t".into(),
            is_read_only: false,
            arguments: Bytes::new(),
            meta: Bytes::new(),
            traceparent: None,
        }
    }

    #[test]
    fn after_a_flood_the_table_is_small_again() {
        let table = Table::default();
        let (call, row) = (call(), Arc::<Tool>::default());
        for id in 0..100_000 {
            table.arrive(OpId(id), &call, Arc::clone(&row), Instant::now());
        }
        for id in 0..100_000 {
            assert!(table.leave(OpId(id)).is_some());
        }
        let room: usize = table.parts.iter().map(|part| part.lock().unwrap().capacity()).sum();
        assert!(room <= PARTS * 256, "{room}");
        assert_eq!(Arc::strong_count(&row), 1);
    }

    #[test]
    fn ids_that_count_up_in_either_half_fill_all_parts() {
        for shift in [0, 64] {
            let table = Table::default();
            for id in 0..10_000_u128 {
                table.arrive(OpId(id << shift), &call(), Arc::default(), Instant::now());
            }
            assert!(table.parts.iter().all(|part| part.lock().unwrap().len() > 100));
        }
    }
}

//! Counters in memory, of a bounded number of sessions.

use std::{borrow::Borrow, fmt, hash::Hash, ops::RangeInclusive, sync::atomic::Ordering};

use hashbrown::hash_table::{self, HashTable};

use crate::{
    prim::{self, atomic::AtomicUsize},
    shards::{Shards, give_back_memory},
};

/// A number for each session, changed and read in one step.
///
/// # How it stays bounded
///
/// At most `capacity` sessions have a counter. When there is no room, a *new* session is refused and no counter that exists is touched:
/// to evict one would set it back to nought behind the back of whoever relies on it. Room is made by [`forget`](Self::forget) when a
/// session ends, and by [`forget_idle`](Self::forget_idle), called now and then, for sessions that never say goodbye.
///
/// # Examples
///
/// ```
/// use interlock_sync::session::{Added, SessionCounters};
///
/// let calls: SessionCounters<String> = SessionCounters::new(10_000);
/// assert_eq!(calls.add("session-1", 1), Added::Now(1));
/// assert_eq!(calls.add_within("session-1", 5, 0..=5), Added::OutOfBounds { current: 1 });
/// assert_eq!(calls.forget("session-1"), Some(1));
/// ```
pub struct SessionCounters<K> {
    shards: Shards<HashTable<Slot<K>>>,
    capacity: usize,
    len: AtomicUsize,
}

struct Slot<K> {
    key: K,
    hash: u64,
    value: i64,
    /// Since the last look for idle ones.
    touched: bool,
}

/// What became of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The counter stands here now.
    Now(i64),
    /// It would have left its bounds, and stands where it stood.
    OutOfBounds {
        /// Where that is; nought if the session is new.
        current: i64,
    },
    /// The session is new, and there is no room for it.
    Full,
}

impl<K> SessionCounters<K> {
    /// Counters of at most this many sessions.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { shards: Shards::new(prim::default_shards()), capacity, len: AtomicUsize::new(0) }
    }

    /// How many sessions have a counter.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether no session has one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the sessions that were not touched since this was last called, and says how many they were. Called every quarter of
    /// an hour, it forgets what was idle for a quarter to half an hour.
    pub fn forget_idle(&self) -> usize {
        let mut forgotten = Vec::new();
        for mut slots in self.shards.each() {
            let idle = slots.extract_if(|slot| !std::mem::replace(&mut slot.touched, false));
            forgotten.extend(idle);
            give_back_memory(&mut slots, |slot| slot.hash);
        }
        self.len.fetch_sub(forgotten.len(), Ordering::Relaxed);
        forgotten.len()
    }
}

impl<K: Eq + Hash> SessionCounters<K> {
    /// Adds to a session's counter, which begins at nought, unless it would not fit a number of 64 bits.
    pub fn add<Q>(&self, session: &Q, delta: i64) -> Added
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.change(session, |value| value.checked_add(delta))
    }

    /// Adds, unless the counter would leave these bounds: test and change are one step.
    pub fn add_within<Q>(&self, session: &Q, delta: i64, bounds: RangeInclusive<i64>) -> Added
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.change(session, |value| value.checked_add(delta).filter(|sum| bounds.contains(sum)))
    }

    /// Adds as much as fits: the counter stops at the ends of its range.
    pub fn add_saturating<Q>(&self, session: &Q, delta: i64) -> Added
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.change(session, |value| Some(value.saturating_add(delta)))
    }

    /// Where a session's counter stands, if it has one. It may have moved on by the time you look: decide with
    /// [`add_within`](Self::add_within).
    #[must_use]
    pub fn get<Q: Eq + Hash + ?Sized>(&self, session: &Q) -> Option<i64>
    where
        K: Borrow<Q>,
    {
        let hash = self.shards.hash(session);
        self.shards.enter(hash).find(hash, |slot| slot.key.borrow() == session).map(|slot| slot.value)
    }

    /// Ends a session, and says where its counter stood.
    pub fn forget<Q: Eq + Hash + ?Sized>(&self, session: &Q) -> Option<i64>
    where
        K: Borrow<Q>,
    {
        let hash = self.shards.hash(session);
        let forgotten = {
            let mut slots = self.shards.enter(hash);
            let found = slots.find_entry(hash, |slot| slot.key.borrow() == session).ok()?;
            let forgotten = found.remove().0;
            give_back_memory(&mut slots, |slot| slot.hash);
            forgotten
        };
        self.len.fetch_sub(1, Ordering::Relaxed);
        Some(forgotten.value)
    }

    fn change<Q>(&self, session: &Q, change: impl FnOnce(i64) -> Option<i64>) -> Added
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.shards.hash(session);
        let mut slots = self.shards.enter(hash);
        match slots.entry(hash, |slot| slot.key.borrow() == session, |slot| slot.hash) {
            hash_table::Entry::Occupied(mut found) => {
                let slot = found.get_mut();
                slot.touched = true;
                let Some(value) = change(slot.value) else {
                    return Added::OutOfBounds { current: slot.value };
                };
                slot.value = value;
                Added::Now(value)
            }
            hash_table::Entry::Vacant(vacant) => {
                let Some(value) = change(0) else { return Added::OutOfBounds { current: 0 } };
                let key = session.to_owned();
                if !self.make_room() {
                    return Added::Full;
                }
                vacant.insert(Slot { key, hash, value, touched: true });
                Added::Now(value)
            }
        }
    }

    /// Counts one session more, if there is room: in one step, because other shards do the same.
    fn make_room(&self) -> bool {
        let more = |len: usize| (len < self.capacity).then_some(len + 1);
        self.len.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

impl<K> fmt::Debug for SessionCounters<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionCounters").field("len", &self.len()).field("capacity", &self.capacity).finish()
    }
}

//! The flights that are under way, by key.

use std::{fmt, hash::Hash};

use hashbrown::hash_table::{self, HashTable};

use super::{
    flight::{Engine, Flight},
    seat::Seat,
};
use crate::{
    prim::{self, Arc},
    shards::{Shards, give_back_memory},
};

/// Loads that are shared by everybody who wants the same key at the same time.
///
/// # Guarantees
///
/// - Of one key there is at most one load at a time. Who comes while it runs gets a clone of its result.
/// - Nothing is kept: the next call after the end loads again, whatever the result was. `V` is often a
///   `Result<T, E>`; then an error goes to all who took part, and to nobody later.
/// - A load belongs to nobody: when the caller who began it is cancelled, another who waits goes on with the same future. Only when
///   all have gone it is dropped. No task is spawned.
/// - A panic of the load reaches the caller who drove it. The others begin again, with one of their own loads.
///
/// Who fills a cache must look into it again *inside* the load: between a miss outside and the load, another flight may have landed.
/// And who has just changed the thing must [`forget`](Self::forget) the flight first, which may have read it before the change.
///
/// A load that wants its own key waits for itself, for ever.
///
/// # Examples
///
/// ```
/// use interlock_sync::single_flight::SingleFlight;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let tokens: SingleFlight<String, Result<String, String>> = SingleFlight::new();
/// let refresh = || async {
///     tokio::task::yield_now().await; // a request that takes its time
///     Ok("a token".to_owned())
/// };
/// let (one, other) = tokio::join!(
///     tokens.load("alice".to_owned(), refresh),
///     tokens.load("alice".to_owned(), || async { unreachable!("somebody is at it") }),
/// );
/// assert_eq!(one, other);
/// # }
/// ```
pub struct SingleFlight<K, V> {
    shards: Shards<HashTable<Slot<K, V>>>,
}

struct Slot<K, V> {
    key: K,
    hash: u64,
    flight: Arc<Flight<V>>,
}

/// Calls a flight lost when it is dropped.
struct Lost<'a, K, V> {
    group: &'a SingleFlight<K, V>,
    hash: u64,
    flight: &'a Arc<Flight<V>>,
}

impl<K, V> Drop for Lost<'_, K, V> {
    fn drop(&mut self) {
        let wakes = self.flight.lose();
        self.group.remove(self.hash, self.flight);
        wakes.wake();
    }
}

impl<K, V> SingleFlight<K, V> {
    /// No load is under way.
    #[must_use]
    pub fn new() -> Self {
        Self::with_shards(prim::default_shards())
    }

    /// The same with this many shards at least.
    #[must_use]
    pub fn with_shards(shards: usize) -> Self {
        Self { shards: Shards::new(shards) }
    }

    /// How many loads are under way, counted shard by shard.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.each().map(|slots| slots.len()).sum()
    }

    /// Whether no load is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells everybody aboard, and gives the driver its own copy.
    pub(super) fn land(&self, hash: u64, flight: &Arc<Flight<V>>, value: V) -> V
    where
        V: Clone,
    {
        let value = Arc::new(value);
        let wakes = flight.land(&value);
        self.remove(hash, flight);
        wakes.wake();
        Arc::unwrap_or_clone(value)
    }

    /// Drops a load that will have no result, and lets the others begin another: in this order, so that never two are there at
    /// once, and the second step also if the first panics.
    pub(super) fn desert(&self, hash: u64, flight: &Arc<Flight<V>>, engine: Option<Engine<V>>) {
        let _lost = Lost { group: self, hash, flight };
        drop(engine);
    }

    pub(super) fn leave(&self, hash: u64, flight: &Arc<Flight<V>>, ticket: u64, engine: Option<Engine<V>>) {
        let left = flight.leave(ticket, engine);
        left.wakes.wake();
        if left.deserted.is_some() {
            self.desert(hash, flight, left.deserted);
        }
    }

    /// Removes this flight and no other: a new one of the same key may have taken its place.
    fn remove(&self, hash: u64, flight: &Arc<Flight<V>>) {
        let removed = {
            let mut slots = self.shards.enter(hash);
            let found = slots.find_entry(hash, |slot| Arc::ptr_eq(&slot.flight, flight));
            let removed = found.ok().map(|found| found.remove().0);
            give_back_memory(&mut slots, |slot| slot.hash);
            removed
        };
        drop(removed);
    }
}

impl<K: Eq + Hash + Clone, V: Clone + Send + Sync + 'static> SingleFlight<K, V> {
    /// The result of the load that is under way for this key, or of this one if there is none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the load to the others who wait for it, and drops it when there are none.
    ///
    /// # Panics
    ///
    /// When the load panics while this caller drives it.
    pub async fn load<F, Fut>(&self, key: K, load: F) -> V
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = V> + Send + 'static,
    {
        let mut load = Some(load);
        loop {
            let mut seat = self.board(&key);
            // Who begins a flight gets its result or does not come back here, so the load is there whenever it is needed.
            if seat.is_first()
                && let Some(load) = load.take()
            {
                seat.start(load);
            }
            if let Some(value) = seat.await {
                return value;
            }
        }
    }

    /// Lets the next caller of this key begin a new load. Who waits for the present one still gets its result.
    pub fn forget(&self, key: &K) {
        let hash = self.shards.hash(key);
        let forgotten = {
            let mut slots = self.shards.enter(hash);
            slots.find_entry(hash, |slot| slot.key == *key).ok().map(|found| found.remove().0)
        };
        drop(forgotten);
    }

    fn board(&self, key: &K) -> Seat<'_, K, V> {
        let hash = self.shards.hash(key);
        // What was there before is dropped after the shard is free.
        let _over;
        let mut slots = self.shards.enter(hash);
        match slots.entry(hash, |slot| slot.key == *key, |slot| slot.hash) {
            hash_table::Entry::Occupied(mut found) => {
                let slot = found.get_mut();
                if let Some(ticket) = slot.flight.board() {
                    return Seat::new(self, hash, Arc::clone(&slot.flight), ticket);
                }
                let flight = Arc::new(Flight::new());
                _over = std::mem::replace(&mut slot.flight, Arc::clone(&flight));
                Seat::new(self, hash, flight, Flight::<V>::FIRST)
            }
            hash_table::Entry::Vacant(vacant) => {
                let flight = Arc::new(Flight::new());
                vacant.insert(Slot { key: key.clone(), hash, flight: Arc::clone(&flight) });
                Seat::new(self, hash, flight, Flight::<V>::FIRST)
            }
        }
    }
}

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> fmt::Debug for SingleFlight<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").field("len", &self.len()).finish_non_exhaustive()
    }
}

//! The lock itself.

use std::{fmt, hash::Hash, ops::Deref};

use super::{
    acquire::Acquire,
    entry::Mode,
    guard::Guard,
    many::AcquireAll,
    table::{Entered, Hold, Place, Table},
};
use crate::{
    prim::{self, Arc},
    shards::Shards,
};

/// A lock for each key, for as long as somebody holds it or waits for it.
///
/// # Guarantees
///
/// - A key is held by one exclusive guard, or by any number of shared ones, or by nobody.
/// - Who asks first gets it first. A waiting writer is not overtaken by readers who come after it.
/// - A guard gives the key back when it is dropped, also by a panic. There is no poisoning: what the key protects must be able to
///   live with a holder that stopped half way.
/// - A wait that is given up passes its turn on, also when the turn had come already.
/// - A key that nobody holds takes no memory.
///
/// It reaches as far as this value: one process. What several processes share needs a lease or a conditional write of a store.
///
/// # Deadlocks
///
/// Two tasks that each hold a key and want the other's wait for ever. Take several keys with [`lock_all`](Self::lock_all), which keeps
/// one order, and never ask for another while you hold some, not even for a shared hold of the same one: a writer may be waiting
/// in between.
///
/// # Examples
///
/// ```
/// use interlock_sync::lock::KeyedLock;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let accounts = KeyedLock::new();
///
/// let alice = accounts.lock("alice").await;
/// assert!(accounts.try_lock("alice").is_none(), "somebody is at it");
/// let bob = accounts.lock("bob").await; // another key is another lock
/// drop((alice, bob));
///
/// let reading = accounts.lock_shared("alice").await;
/// let too = accounts.lock_shared("alice").await;
/// drop((reading, too));
/// assert!(accounts.is_empty());
/// # }
/// ```
pub struct KeyedLock<K> {
    shards: Shards<Table<K>>,
}

impl<K> KeyedLock<K> {
    /// A lock in which no key is held.
    #[must_use]
    pub fn new() -> Self {
        Self::with_shards(prim::default_shards())
    }

    /// The same with this many shards at least. Keys in different shards never meet; one shard takes the least memory.
    #[must_use]
    pub fn with_shards(shards: usize) -> Self {
        Self { shards: Shards::new(shards) }
    }

    /// How many keys are held just now, counted shard by shard.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.each().map(|table| table.len()).sum()
    }

    /// Whether no key is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many keys there is room without asking for memory.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.shards.each().map(|table| table.capacity()).sum()
    }

    pub(super) fn release(&self, hold: Hold) {
        let after = self.shards.enter(hold.hash).release(hold);
        after.see_to_it();
    }

    pub(super) fn withdraw(&self, place: Place) {
        let (after, _waker) = self.shards.enter(place.hold.hash).withdraw(place);
        after.see_to_it();
    }

    pub(super) fn still_waits(&self, place: Place, waker: &std::task::Waker) -> bool {
        let (waits, _old) = self.shards.enter(place.hold.hash).still_waits(place, waker);
        waits
    }
}

impl<K: Eq + Hash> KeyedLock<K> {
    /// Takes a key for oneself.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the place in the queue and nothing else.
    pub fn lock(&self, key: K) -> Acquire<K, &Self> {
        self.lock_as(key, Mode::Exclusive)
    }

    /// Takes a key together with others who share it.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    pub fn lock_shared(&self, key: K) -> Acquire<K, &Self> {
        self.lock_as(key, Mode::Shared)
    }

    /// Takes a key in a mode that is known only at run time.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    pub fn lock_as(&self, key: K, mode: Mode) -> Acquire<K, &Self> {
        Acquire::new(self, key, mode)
    }

    /// The same, with a guard that keeps the lock alive and borrows nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    pub fn lock_owned(self: &Arc<Self>, key: K, mode: Mode) -> Acquire<K, Arc<Self>> {
        Acquire::new(Arc::clone(self), key, mode)
    }

    /// Takes a key for oneself if that is possible at once; `None` also if nobody is in the way but somebody waits.
    #[must_use]
    pub fn try_lock(&self, key: K) -> Option<Guard<K, &Self>> {
        self.try_lock_as(key, Mode::Exclusive)
    }

    /// Takes a key together with others if that is possible at once.
    #[must_use]
    pub fn try_lock_shared(&self, key: K) -> Option<Guard<K, &Self>> {
        self.try_lock_as(key, Mode::Shared)
    }

    /// Takes a key if that is possible at once.
    #[must_use]
    pub fn try_lock_as(&self, key: K, mode: Mode) -> Option<Guard<K, &Self>> {
        try_lock(self, key, mode)
    }

    /// The same, with a guard that keeps the lock alive and borrows nothing.
    #[must_use]
    pub fn try_lock_owned(self: &Arc<Self>, key: K, mode: Mode) -> Option<Guard<K, Arc<Self>>> {
        try_lock(Arc::clone(self), key, mode)
    }

    pub(super) fn enter(&self, key: K, mode: Mode, waker: Option<&std::task::Waker>) -> Entered<K> {
        let hash = self.shards.hash(&key);
        self.shards.enter(hash).enter(hash, key, mode, waker)
    }
}

impl<K: Ord + Hash> KeyedLock<K> {
    /// Takes several keys for oneself: each once, in their order, so that two callers cannot wait for each other.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives back the keys that it had.
    pub fn lock_all(&self, keys: impl IntoIterator<Item = K>) -> AcquireAll<K, &Self> {
        self.lock_all_as(keys.into_iter().map(|key| (key, Mode::Exclusive)))
    }

    /// Takes several keys, each in its mode. A key that is named in both is taken for oneself.
    ///
    /// # Cancel safety
    ///
    /// As [`lock_all`](Self::lock_all).
    pub fn lock_all_as(&self, keys: impl IntoIterator<Item = (K, Mode)>) -> AcquireAll<K, &Self> {
        AcquireAll::new(self, keys)
    }

    /// The same, with guards that keep the lock alive and borrow nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`lock_all`](Self::lock_all).
    pub fn lock_all_owned(
        self: &Arc<Self>,
        keys: impl IntoIterator<Item = (K, Mode)>,
    ) -> AcquireAll<K, Arc<Self>> {
        AcquireAll::new(Arc::clone(self), keys)
    }
}

fn try_lock<K: Eq + Hash, L: Deref<Target = KeyedLock<K>>>(
    lock: L,
    key: K,
    mode: Mode,
) -> Option<Guard<K, L>> {
    match lock.enter(key, mode, None) {
        Entered::Held(hold, _key) => Some(Guard::new(lock, hold)),
        Entered::Waiting(..) | Entered::Busy(_) => None,
    }
}

impl<K> Default for KeyedLock<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for KeyedLock<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLock").field("len", &self.len()).finish_non_exhaustive()
    }
}

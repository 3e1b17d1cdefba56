//! One value split over several mutexes by the hash of a key, so that callers with different keys seldom meet.

use std::{
    fmt,
    hash::{BuildHasher, Hash},
};

use hashbrown::HashTable;

use crate::prim::{Hashing, Mutex, MutexGuard, PoisonError, hashing};

/// The parts. A key is hashed once: some bits pick the part, the others the place in the table there. Callers choose keys, so the hash is
/// seeded with chance from the operating system, and nobody outside can prepare keys that all meet in one.
pub(crate) struct Shards<T> {
    hasher: Hashing,
    parts: Box<[Part<T>]>,
}

/// Each on cache lines of its own: neighbours must not slow each other down.
#[derive(Default)]
#[repr(align(128))]
struct Part<T>(Mutex<T>);

impl<T: Default> Shards<T> {
    /// At least that many parts, rounded up to a power of two, at most 1024.
    pub(crate) fn new(at_least: usize) -> Self {
        let count = at_least.clamp(1, 1024).next_power_of_two();
        Self { hasher: hashing(), parts: (0..count).map(|_| Part::default()).collect() }
    }
}

impl<T> Shards<T> {
    /// The hash of a key, the same for the whole life of these shards.
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u64 {
        self.hasher.hash_one(key)
    }

    /// What computes hashes, for a table that moves its rows.
    pub(crate) fn hasher(&self) -> &Hashing {
        &self.hasher
    }

    /// Enters the part where a key with that hash lives. Nothing in this crate leaves a part half changed, so the panic of a key's
    /// own comparison, which poisons the mutex, has spoilt nothing.
    #[expect(clippy::indexing_slicing, reason = "the mask is the count, a power of two, less one")]
    pub(crate) fn enter(&self, hash: u64) -> MutexGuard<'_, T> {
        // The tables inside use the lowest and the highest bits; these are others.
        let index = (hash >> 32) as usize & (self.parts.len() - 1);
        self.parts[index].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters all parts, one after the other.
    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        self.parts.iter().map(|part| part.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> fmt::Debug for Shards<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shards", self.parts.len())
    }
}

/// A crowd of keys must not leave its memory behind: shrinks a table that is nearly empty, unless it is small anyway.
#[inline]
pub(crate) fn give_back_memory<T>(table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) {
    let (len, capacity) = (table.len(), table.capacity());
    if capacity > 64 && len < capacity / 8 {
        table.shrink_to(len * 2, hash);
    }
}

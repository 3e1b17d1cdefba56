//! Holding a key.

use std::{fmt, ops::Deref};

use super::{keyed::KeyedLock, table::Hold};

/// A hold of one key, given back when it is dropped, on whatever thread.
///
/// `L` is how it reaches the lock: `&KeyedLock<K>`, or `Arc<KeyedLock<K>>` for a guard that borrows nothing.
#[must_use = "the key is given back at once unless the guard is kept"]
pub struct Guard<K, L: Deref<Target = KeyedLock<K>>> {
    lock: L,
    hold: Hold,
}

impl<K, L: Deref<Target = KeyedLock<K>>> Guard<K, L> {
    pub(super) fn new(lock: L, hold: Hold) -> Self {
        Self { lock, hold }
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> Drop for Guard<K, L> {
    fn drop(&mut self) {
        self.lock.release(self.hold);
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> fmt::Debug for Guard<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

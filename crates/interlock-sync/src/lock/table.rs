//! The keys of one shard. Whatever could run somebody else's code, a waker or the drop of a key, is handed out to be done after
//! the mutex is free.

use std::task::Waker;

use hashbrown::hash_table::{self, HashTable};

use super::entry::{Entry, Mode};
use crate::{shards::give_back_memory, wakes::Wakes};

/// The keys that are held, and nothing else.
#[derive(Debug)]
pub(super) struct Table<K> {
    entries: HashTable<Entry<K>>,
    /// The last id or ticket that was given out.
    last: u64,
}

/// A hold: where its entry is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    pub(super) hash: u64,
    id: u64,
}

/// A place in the queue of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) hold: Hold,
    ticket: u64,
}

/// What became of a wish. A key that is not needed any more comes back, to be dropped elsewhere.
#[derive(Debug)]
pub(super) enum Entered<K> {
    Held(Hold, Option<K>),
    Waiting(Place, K),
    Busy(K),
}

/// What a change leaves to do once the mutex is free.
#[derive(Debug)]
#[must_use = "whoever was granted the key must be woken"]
pub(super) struct Aftermath<K> {
    wakes: Wakes,
    /// Of an entry that is gone; only to be dropped.
    _key: Option<K>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { entries: HashTable::new(), last: 0 }
    }
}

impl<K: Eq> Table<K> {
    /// Takes a key, or queues up if there is somebody to wake.
    pub(super) fn enter(&mut self, hash: u64, key: K, mode: Mode, waker: Option<&Waker>) -> Entered<K> {
        let next = self.last + 1;
        match self.entries.entry(hash, |entry| entry.key == key, |entry| entry.hash) {
            hash_table::Entry::Vacant(vacant) => {
                vacant.insert(Entry::held(key, hash, next, mode));
                self.last = next;
                Entered::Held(Hold { hash, id: next }, None)
            }
            hash_table::Entry::Occupied(mut found) => {
                let entry = found.get_mut();
                let hold = Hold { hash, id: entry.id };
                if entry.try_take(mode) {
                    return Entered::Held(hold, Some(key));
                }
                let Some(waker) = waker else { return Entered::Busy(key) };
                entry.wait(next, mode, waker.clone());
                self.last = next;
                Entered::Waiting(Place { hold, ticket: next }, key)
            }
        }
    }
}

impl<K> Table<K> {
    /// Whether a place in the queue is still one; if not, the key is held. The waker is replaced, and the old one comes back.
    pub(super) fn still_waits(&mut self, place: Place, waker: &Waker) -> (bool, Option<Waker>) {
        let entry = self.entries.find_mut(place.hold.hash, |entry| entry.id == place.hold.id);
        debug_assert!(entry.is_some(), "an entry stays while somebody waits for it or holds it");
        entry.map_or((false, None), |entry| entry.still_waits(place.ticket, waker))
    }

    /// Ends a hold.
    pub(super) fn release(&mut self, hold: Hold) -> Aftermath<K> {
        self.change(hold, Entry::release).0
    }

    /// Ends a wait, or the hold that it had become. The waker comes back to be dropped elsewhere.
    pub(super) fn withdraw(&mut self, place: Place) -> (Aftermath<K>, Option<Waker>) {
        let (after, waker) = self.change(place.hold, |entry| entry.withdraw(place.ticket));
        (after, waker.flatten())
    }

    /// How many keys are held.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    #[inline]
    fn change<T>(&mut self, at: Hold, change: impl FnOnce(&mut Entry<K>) -> T) -> (Aftermath<K>, Option<T>) {
        let found = self.entries.find_entry(at.hash, |entry| entry.id == at.id);
        debug_assert!(found.is_ok(), "an entry stays while somebody waits for it or holds it");
        let Ok(mut found) = found else { return (Aftermath { wakes: Wakes::None, _key: None }, None) };
        let entry = found.get_mut();
        let changed = change(entry);
        // After any change, not only after a release: with a writer that gave up, the readers behind it may go in.
        let wakes = entry.pass_on();
        let mut after = Aftermath { wakes, _key: None };
        if entry.is_free() {
            after._key = Some(found.remove().0.key);
            give_back_memory(&mut self.entries, |entry| entry.hash);
        }
        (after, Some(changed))
    }
}

impl<K> Aftermath<K> {
    /// Does it. No mutex may be held.
    #[inline]
    pub(super) fn see_to_it(self) {
        self.wakes.wake();
    }
}

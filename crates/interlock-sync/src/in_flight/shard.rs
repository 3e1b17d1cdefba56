//! The entries of one shard, and how they change under its mutex.
//!
//! An entry is found by its key only to get in; a permit and a waiter know its number. That number stays good because the entry is
//! removed only when no permit is out, and then nobody waits: `queue` is not empty only while `out` is the limit.

use std::{
    borrow::Borrow,
    collections::VecDeque,
    hash::{BuildHasher, Hash},
    task::Waker,
};

use hashbrown::HashTable;

/// The entries of one shard.
pub(super) struct Shard<K> {
    entries: HashTable<Entry<K>>,
    last_id: u64,
}

struct Entry<K> {
    key: K,
    id: u64,
    /// How many permits are out, those that were handed to a waiter who has not noticed yet included.
    out: u32,
    queue: VecDeque<Waiter>,
    /// The waiters who have a permit and have not noticed yet.
    handed: Vec<u64>,
}

struct Waiter {
    id: u64,
    waker: Option<Waker>,
}

/// What a permit or a waiter knows its entry by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) hash: u64,
    id: u64,
}

/// All permits of a key are out.
pub(super) struct Full {
    pub(super) place: Place,
    pub(super) in_use: u32,
    pub(super) waiting: usize,
}

impl<K> Default for Shard<K> {
    fn default() -> Self {
        Self { entries: HashTable::new(), last_id: 0 }
    }
}

impl<K: Hash + Eq> Shard<K> {
    /// Takes a permit, if not all are out.
    pub(super) fn enter<Q>(
        &mut self,
        hash: u64,
        key: &Q,
        limit: u32,
        hasher: &impl BuildHasher,
    ) -> Result<Place, Full>
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some(entry) = self.entries.find_mut(hash, |entry| entry.key.borrow() == key) else {
            let key = key.to_owned();
            let id = self.next_id();
            let entry = Entry { key, id, out: 1, queue: VecDeque::new(), handed: Vec::new() };
            self.entries.insert_unique(hash, entry, |entry| hasher.hash_one(&entry.key));
            return Ok(Place { hash, id });
        };
        let place = Place { hash, id: entry.id };
        if entry.out < limit {
            entry.out += 1;
            return Ok(place);
        }
        Err(Full { place, in_use: entry.out, waiting: entry.queue.len() })
    }

    /// Takes a place at the end of the queue of an entry that is full, and says by which number.
    pub(super) fn queue_up(&mut self, place: Place) -> u64 {
        let id = self.next_id();
        if let Some(entry) = self.find(place) {
            entry.queue.push_back(Waiter { id, waker: None });
        }
        id
    }

    /// Takes a permit back: it goes to whoever waits longest, to be woken by the caller once the mutex is free, or the count falls,
    /// and with the last permit the entry goes.
    pub(super) fn give_back(&mut self, place: Place, hasher: &impl BuildHasher) -> Option<Waker> {
        let found = self.entries.find_entry(place.hash, |entry| entry.id == place.id);
        let Ok(mut found) = found else { return None };
        let entry = found.get_mut();
        if let Some(next) = entry.queue.pop_front() {
            entry.handed.push(next.id);
            return next.waker;
        }
        entry.out -= 1;
        if entry.out == 0 {
            found.remove();
            let (entries, places) = (self.entries.len(), self.entries.num_buckets());
            if places > 64 && entries < places / 8 {
                self.entries.shrink_to(entries * 2, |entry| hasher.hash_one(&entry.key));
            }
        }
        None
    }

    /// Whether a waiter has its permit; if not, whom to wake then. The waker that is not needed any more is returned, to be dropped
    /// when the mutex is free.
    pub(super) fn is_handed(&mut self, place: Place, id: u64, waker: Waker) -> (bool, Option<Waker>) {
        let Some(entry) = self.find(place) else { return (false, Some(waker)) };
        if remove(&mut entry.handed, id) {
            return (true, Some(waker));
        }
        let waiter = entry.queue.iter_mut().find(|waiter| waiter.id == id);
        (false, waiter.and_then(|waiter| waiter.waker.replace(waker)))
    }

    /// A waiter goes. If it has a permit that it has not noticed, it still has it: `true`.
    pub(super) fn leave(&mut self, place: Place, id: u64) -> bool {
        let Some(entry) = self.find(place) else { return false };
        if remove(&mut entry.handed, id) {
            return true;
        }
        if let Some(at) = entry.queue.iter().position(|waiter| waiter.id == id) {
            entry.queue.remove(at);
        }
        false
    }

    /// How many permits of a key are out.
    pub(super) fn in_use<Q>(&self, hash: u64, key: &Q) -> u32
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        self.entries.find(hash, |entry| entry.key.borrow() == key).map_or(0, |entry| entry.out)
    }

    /// How many permits are out of the entry that somebody knows.
    pub(super) fn out(&mut self, place: Place) -> u32 {
        self.find(place).map_or(0, |entry| entry.out)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn find(&mut self, place: Place) -> Option<&mut Entry<K>> {
        self.entries.find_mut(place.hash, |entry| entry.id == place.id)
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

fn remove(ids: &mut Vec<u64>, id: u64) -> bool {
    let found = ids.iter().position(|known| *known == id);
    found.map(|at| ids.swap_remove(at)).is_some()
}

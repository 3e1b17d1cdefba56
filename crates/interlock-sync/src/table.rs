//! A hash table that forgets idle rows a few at a time, so that no call pays for a sweep over all of them and none is ever needed.
//!
//! A hand goes round over the places. Every new row moves it on by [`PER_INSERT`] places, and every [`CALLS`] other calls by some.
//! So of n rows that are in use in the course of a round, at most n + places / [`PER_INSERT`] are there: a table grows only if more than
//! three quarters of it are in use, and one of which less than an eighth is in use is made smaller at the end of the round. Then no more
//! than 2 n rows are there, or [`SMALL`].

use std::{
    borrow::Borrow,
    hash::{BuildHasher, Hash},
};

use hashbrown::HashTable;

/// How many places a new row makes the table look at.
const PER_INSERT: usize = 8;

/// How many calls that find their row pass before the table looks at some places: [`FEW`], or [`MANY`] if it found idle rows the last
/// time.
const CALLS: u32 = 16;
const FEW: usize = 4;
const MANY: usize = 64;

/// Tables of so few places are not made smaller.
const SMALL: usize = 64;

/// Rows by key, hashed by the [`Shards`](super::Shards) around it.
#[derive(Debug)]
pub(crate) struct Table<K, V> {
    rows: HashTable<(K, V)>,
    hand: usize,
    calls: u32,
    found_idle: bool,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: HashTable::new(), hand: 0, calls: 0, found_idle: false }
    }
}

impl<K: Hash + Eq, V> Table<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows, in no order, idle ones included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter().map(|(key, row)| (key, row))
    }

    #[inline]
    pub(crate) fn get_mut<Q>(&mut self, hash: u64, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        self.rows.find_mut(hash, |(known, _)| known.borrow() == key).map(|(_, row)| row)
    }

    /// A row with this hash that is the one; for those who know it by something else than its key.
    pub(crate) fn find_mut(&mut self, hash: u64, is_it: impl Fn(&V) -> bool) -> Option<&mut V> {
        self.rows.find_mut(hash, |(_, row)| is_it(row)).map(|(_, row)| row)
    }

    /// Adds a row for a key that has none.
    pub(crate) fn insert(&mut self, hash: u64, key: K, row: V, hasher: &impl BuildHasher) -> &mut V {
        let rows = self.rows.insert_unique(hash, (key, row), |(key, _)| hasher.hash_one(key));
        &mut rows.into_mut().1
    }

    pub(crate) fn remove<Q>(&mut self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let found = self.rows.find_entry(hash, |(known, _)| known.borrow() == key).ok()?;
        Some(found.remove().0.1)
    }

    /// Removes a row with this hash that is the one.
    pub(crate) fn remove_where(&mut self, hash: u64, is_it: impl Fn(&V) -> bool) -> Option<V> {
        let found = self.rows.find_entry(hash, |(_, row)| is_it(row)).ok()?;
        Some(found.remove().0.1)
    }

    /// To be called when a call found its row: now and then some places are looked at.
    #[inline]
    pub(crate) fn found(&mut self, hasher: &impl BuildHasher, idle: impl Fn(&V) -> bool) {
        self.calls += 1;
        if self.calls >= CALLS {
            self.calls = 0;
            let places = if self.found_idle { MANY } else { FEW };
            self.reclaim(places, hasher, idle);
        }
    }

    /// To be called before a row is added: some places are looked at.
    pub(crate) fn adding(&mut self, hasher: &impl BuildHasher, idle: impl Fn(&V) -> bool) {
        self.reclaim(PER_INSERT, hasher, idle);
    }

    /// Looks at all places, and makes the table as small as it can be.
    pub(crate) fn reclaim_all(&mut self, hasher: &impl BuildHasher, idle: impl Fn(&V) -> bool) {
        self.hand = 0;
        self.reclaim(self.rows.num_buckets(), hasher, idle);
        self.rows.shrink_to_fit(|(key, _)| hasher.hash_one(key));
    }

    /// Looks at so many places from the hand on, and forgets the idle rows.
    fn reclaim(&mut self, places: usize, hasher: &impl BuildHasher, idle: impl Fn(&V) -> bool) {
        self.found_idle = false;
        for _ in 0..places {
            if let Ok(place) = self.rows.get_bucket_entry(self.hand)
                && idle(&place.get().1)
            {
                place.remove();
                self.found_idle = true;
            }
            self.hand += 1;
            if self.hand >= self.rows.num_buckets() {
                self.hand = 0;
                let (rows, places) = (self.rows.len(), self.rows.num_buckets());
                if places > SMALL && rows < places / 4 {
                    // Rows move to new places here, as they do when the table grows; the round before it took more steps than that.
                    self.rows.shrink_to(rows + rows / 2, |(key, _)| hasher.hash_one(key));
                }
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_rows_are_forgotten_as_others_come_and_the_table_shrinks_again() {
        let hasher = foldhash::quality::FixedState::default();
        let mut table = Table::default();
        let add = |table: &mut Table<u32, u32>, key: u32, oldest: u32| {
            table.adding(&hasher, |row| *row < oldest);
            let hash = hasher.hash_one(key);
            table.insert(hash, key, key, &hasher);
        };
        for key in 0..10_000 {
            add(&mut table, key, 0);
        }
        assert_eq!(table.len(), 10_000, "all are in use");
        for key in 10_000..200_000 {
            add(&mut table, key, key.saturating_sub(1000));
        }
        assert!(table.len() <= 2000, "of 1000 rows in use {} are there", table.len());
        assert!(table.rows.num_buckets() <= 8000, "in {} places", table.rows.num_buckets());
        for _ in 0..20_000 {
            table.found(&hasher, |_| true);
        }
        assert!(table.len() == 0 && table.rows.num_buckets() <= SMALL, "calls that add nothing also do it");
    }

    #[test]
    fn a_row_is_found_by_what_its_key_is_borrowed_as_until_it_is_removed() {
        let hasher = foldhash::quality::FixedState::default();
        let hash = hasher.hash_one("alice");
        let mut table = Table::<String, u32>::default();
        *table.insert(hash, "alice".into(), 1, &hasher) += 1;
        assert_eq!(table.get_mut(hash, "alice"), Some(&mut 2));
        assert_eq!(table.remove(hash, "alice"), Some(2));
        assert_eq!(table.get_mut(hash, "alice"), None);
    }
}

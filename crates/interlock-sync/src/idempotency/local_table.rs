//! What one process remembers of an idempotency key, and how that changes under the mutex of its shard.

use std::{
    borrow::Borrow,
    hash::{BuildHasher, Hash},
    mem,
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;

use super::Ran;
use crate::{
    clock::Timestamp,
    store::{Ending, Fence, Fingerprint},
    table::Table,
};

/// The keys of one shard.
pub(super) struct Shard<K> {
    rows: Table<K, Row>,
    last_fence: u64,
}

struct Row {
    request: Fingerprint,
    fence: Fence,
    phase: Phase,
}

pub(super) enum Phase {
    /// The effect has begun. Those who wait are told by the end of the channel, which the first of them opens. It is dropped when the
    /// mutex is free, because that wakes them.
    Running(Option<watch::Sender<()>>),
    Ended(Arc<Ending>, Timestamp),
    InDoubt(Timestamp),
}

/// What a request finds.
pub(super) enum Found {
    /// Nothing: it is the one that runs, with this fence.
    Free(Fence),
    /// Somebody else is at it; the end of this channel tells when that has changed.
    Running(watch::Receiver<()>),
    /// It is decided.
    Known(Ran<Arc<Ending>>),
}

impl<K> Default for Shard<K> {
    fn default() -> Self {
        Self { rows: Table::default(), last_fence: 0 }
    }
}

impl Row {
    fn is_idle(&self, now: Timestamp) -> bool {
        match self.phase {
            Phase::Running(_) => false,
            Phase::Ended(_, forget) | Phase::InDoubt(forget) => forget <= now,
        }
    }

    fn known(&self, request: &Fingerprint) -> Ran<Arc<Ending>> {
        if self.request != *request {
            return Ran::Mismatch;
        }
        match &self.phase {
            Phase::Running(_) => Ran::Running { retry_after: None },
            Phase::Ended(ending, _) => Ran::Replayed(Arc::clone(ending)),
            Phase::InDoubt(_) => Ran::InDoubt { fence: self.fence },
        }
    }
}

impl<K: Hash + Eq> Shard<K> {
    /// Begins an attempt, or says what became of an earlier one.
    pub(super) fn begin<Q>(
        &mut self,
        hash: u64,
        key: &Q,
        request: Fingerprint,
        now: Timestamp,
        hasher: &impl BuildHasher,
    ) -> Found
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.rows.found(hasher, |row| row.is_idle(now));
        let fence = Fence(self.last_fence + 1);
        let fresh = Row { request, fence, phase: Phase::Running(None) };
        match self.rows.get_mut(hash, key) {
            Some(row) if row.is_idle(now) => *row = fresh,
            Some(Row { request: same, phase: Phase::Running(tell), .. }) if *same == request => {
                return Found::Running(tell.get_or_insert_with(|| watch::Sender::new(())).subscribe());
            }
            Some(row) => return Found::Known(row.known(&request)),
            None => {
                self.rows.adding(hasher, |row| row.is_idle(now));
                self.rows.insert(hash, key.to_owned(), fresh, hasher);
            }
        }
        self.last_fence = fence.0;
        Found::Free(fence)
    }

    pub(super) fn look_up<Q>(
        &mut self,
        hash: u64,
        key: &Q,
        request: &Fingerprint,
        now: Timestamp,
        hasher: &impl BuildHasher,
    ) -> Option<Ran<Arc<Ending>>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        self.rows.found(hasher, |row| row.is_idle(now));
        let row = self.rows.get_mut(hash, key).filter(|row| !row.is_idle(now))?;
        Some(row.known(request))
    }

    /// Ends the attempt that runs with this fence, or forgets it. What it was is returned, to be dropped when the mutex is free.
    pub(super) fn end(&mut self, hash: u64, fence: Fence, next: Option<Phase>) -> Option<Phase> {
        let is_it = |row: &Row| row.fence == fence;
        match next {
            Some(next) => self.rows.find_mut(hash, is_it).map(|row| mem::replace(&mut row.phase, next)),
            None => self.rows.remove_where(hash, is_it).map(|row| row.phase),
        }
    }

    /// Settles what is in doubt with this fence, or was settled in the same way before.
    pub(super) fn settle<Q>(
        &mut self,
        hash: u64,
        key: &Q,
        fence: Fence,
        ending: Ending,
        now: Timestamp,
        keep: Duration,
    ) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let row = self.rows.get_mut(hash, key).filter(|row| row.fence == fence && !row.is_idle(now));
        let Some(row) = row else { return false };
        let may = match &row.phase {
            Phase::InDoubt(_) => true,
            Phase::Ended(stored, _) => **stored == ending,
            Phase::Running(_) => false,
        };
        if may {
            row.phase = Phase::Ended(Arc::new(ending), now.after(keep));
        }
        may
    }

    /// What is in doubt, with its fence and until when that is remembered.
    pub(super) fn in_doubt(&self, now: Timestamp) -> impl Iterator<Item = (&K, Fence, Timestamp)> {
        self.rows.iter().filter_map(move |(key, row)| match row.phase {
            Phase::InDoubt(forget) if forget > now => Some((key, row.fence, forget)),
            _ => None,
        })
    }

    pub(super) fn reclaim(&mut self, now: Timestamp, hasher: &impl BuildHasher) {
        self.rows.reclaim_all(hasher, |row| row.is_idle(now));
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

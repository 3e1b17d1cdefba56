//! One key of the lock: who holds it and who waits. Pure bookkeeping, always inside the mutex of its shard.

use std::task::Waker;

use super::queue::Queue;
use crate::wakes::Wakes;

/// How a key is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Together with others who hold it so.
    Shared,
    /// Alone.
    Exclusive,
}

/// A key that somebody holds. While it exists somebody does: what nobody holds and somebody wants is granted in the same step.
#[derive(Debug)]
pub(super) struct Entry<K> {
    pub(super) key: K,
    /// Kept so that the table can grow without calling the key's own code.
    pub(super) hash: u64,
    /// Unique in its shard, so that a holder finds its entry again without a copy of the key.
    pub(super) id: u64,
    held: Held,
    /// None until somebody had to wait. Whoever has a ticket and is not in here any more has been granted.
    queue: Option<Box<Queue>>,
}

/// By how many it is held together, or [`Held::ALONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held(usize);

impl<K> Entry<K> {
    /// A key that is held from the start.
    pub(super) fn held(key: K, hash: u64, id: u64, mode: Mode) -> Self {
        Self { key, hash, id, held: Held::NOT.and(mode), queue: None }
    }

    /// Grants it at once, unless a holder is in the way or somebody was here before.
    pub(super) fn try_take(&mut self, mode: Mode) -> bool {
        let granted = self.held.admits(mode) && self.queue.as_ref().is_none_or(|queue| queue.is_empty());
        if granted {
            self.held = self.held.and(mode);
        }
        granted
    }

    /// Queues up.
    pub(super) fn wait(&mut self, ticket: u64, mode: Mode, waker: Waker) {
        self.queue.get_or_insert_default().push(ticket, mode, waker);
    }

    /// Whether a ticket still waits; its waker is replaced, and the old one comes back.
    pub(super) fn still_waits(&mut self, ticket: u64, waker: &Waker) -> (bool, Option<Waker>) {
        self.queue.as_mut().map_or((false, None), |queue| queue.renew(ticket, waker))
    }

    /// Ends one hold.
    pub(super) fn release(&mut self) {
        self.held = self.held.less_one();
    }

    /// Ends a wait, or the hold that it had become meanwhile. The waker comes back to be dropped elsewhere.
    pub(super) fn withdraw(&mut self, ticket: u64) -> Option<Waker> {
        let waker = self.queue.as_mut().and_then(|queue| queue.remove(ticket));
        if waker.is_none() {
            self.release();
        }
        waker
    }

    /// Grants it to the first who wait, as many as can hold it together.
    #[inline]
    pub(super) fn pass_on(&mut self) -> Wakes {
        let mut wakes = Wakes::default();
        if let Some(queue) = &mut self.queue {
            while let Some((mode, waker)) = queue.pop_if(|mode| self.held.admits(mode)) {
                self.held = self.held.and(mode);
                wakes.push(waker);
            }
        }
        wakes
    }

    /// Whether nobody holds it.
    pub(super) fn is_free(&self) -> bool {
        self.held == Held::NOT
    }
}

impl Held {
    const NOT: Self = Self(0);
    const ALONE: Self = Self(usize::MAX);

    fn admits(self, mode: Mode) -> bool {
        self == Self::NOT || (self != Self::ALONE && mode == Mode::Shared)
    }

    /// With one holder more, who was admitted. There is no room in memory for so many guards that this could overflow.
    fn and(self, mode: Mode) -> Self {
        match mode {
            Mode::Shared => Self(self.0 + 1),
            Mode::Exclusive => Self::ALONE,
        }
    }

    fn less_one(self) -> Self {
        if self == Self::ALONE { Self::NOT } else { Self(self.0.saturating_sub(1)) }
    }
}

//! The in-flight limit of one process.

use std::{
    borrow::Borrow,
    fmt,
    hash::Hash,
    mem,
    num::NonZeroU32,
    sync::{Arc, MutexGuard},
    time::Duration,
};

use super::{
    Acquired, Full, FullReason,
    shard::{Place, Shard},
    waiting::Waiting,
};
use crate::{prim::default_shards, shards::Shards};

/// A limit of calls in flight per key, for one process.
///
/// Never are more permits of a key out than the limit. The entry of a key exists exactly while permits of it are out, so nothing has to be
/// evicted, and nothing can be evicted too early. Permits that come back go to the callers that wait, in the order in which they came;
/// a new one does not overtake them.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use std::{num::NonZeroU32, time::Duration};
/// use interlock_sync::in_flight::{Acquired, InFlight, FullReason};
///
/// let limit = InFlight::<String>::new(NonZeroU32::MIN).queue(8).wait(Duration::from_millis(1));
/// let Acquired::Granted(permit) = limit.try_acquire("alice") else { unreachable!() };
/// let Acquired::Refused(busy) = limit.acquire("alice").await else { unreachable!() };
/// assert_eq!((busy.reason, busy.in_use, busy.limit), (FullReason::Deadline, 1, 1));
/// drop(permit);
/// assert!(limit.acquire("alice").await.granted().is_some());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct InFlight<K> {
    limit: NonZeroU32,
    queue: usize,
    wait: Duration,
    shards: Shards<Shard<K>>,
}

/// A permit of an [`InFlight`]; dropping it, also by a panic, gives it back.
#[must_use = "a permit that is dropped is given back"]
pub struct Permit<'a, K: Hash + Eq> {
    limit: &'a InFlight<K>,
    place: Place,
}

/// A permit that can outlive the reference it was got by, for a task of its own.
#[must_use = "a permit that is dropped is given back"]
pub struct OwnedPermit<K: Hash + Eq> {
    limit: Arc<InFlight<K>>,
    place: Place,
}

impl<K: Hash + Eq> InFlight<K> {
    /// A limit of so many permits per key. At most 64 callers wait for each key, for at most 30 seconds.
    #[must_use]
    pub fn new(limit: NonZeroU32) -> Self {
        Self { limit, queue: 64, wait: Duration::from_secs(30), shards: Shards::new(default_shards()) }
    }

    /// How many may wait for one key. One more is refused at once.
    #[must_use]
    pub fn queue(self, queue: usize) -> Self {
        Self { queue, ..self }
    }

    /// How long [`acquire`](Self::acquire) waits.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// A permit, if one is there now.
    pub fn try_acquire<Q>(&self, key: &Q) -> Acquired<Permit<'_, K>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.shards.hash(key);
        let entered = self.shards.enter(hash).enter(hash, key, self.limit.get(), self.shards.hasher());
        match entered {
            Ok(place) => Acquired::Granted(Permit { limit: self, place }),
            Err(full) => self.refused(FullReason::AllOut, full.in_use),
        }
    }

    /// A permit, as soon as one is there and all who came earlier have theirs. Refused at once if too many wait, or later if none came
    /// in time.
    ///
    /// # Panics
    ///
    /// If it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, its place in the queue is gone, and a permit that was already handed to it goes to the next.
    pub async fn acquire<Q>(&self, key: &Q) -> Acquired<Permit<'_, K>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.acquire_within(key, self.wait).await
    }

    /// The same with another time to wait.
    ///
    /// # Panics
    ///
    /// If it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_within<Q>(&self, key: &Q, wait: Duration) -> Acquired<Permit<'_, K>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let waiting = match self.enter_or_queue(key) {
            Ok(waiting) => waiting,
            Err(admission) => return admission,
        };
        match waiting.until(wait).await {
            Ok(place) => Acquired::Granted(Permit { limit: self, place }),
            Err(in_use) => self.refused(FullReason::Deadline, in_use),
        }
    }

    /// As [`try_acquire`](Self::try_acquire), with a permit that can be moved to another task.
    pub fn try_acquire_owned<Q>(self: &Arc<Self>, key: &Q) -> Acquired<OwnedPermit<K>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.try_acquire(key).map(|permit| permit.owned_by(Arc::clone(self)))
    }

    /// As [`acquire`](Self::acquire), with a permit that can be moved to another task.
    ///
    /// # Panics
    ///
    /// If it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_owned<Q>(self: &Arc<Self>, key: &Q) -> Acquired<OwnedPermit<K>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.acquire(key).await.map(|permit| permit.owned_by(Arc::clone(self)))
    }

    /// How many permits of a key are out.
    #[must_use]
    pub fn in_use<Q>(&self, key: &Q) -> u32
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        self.shards.enter(hash).in_use(hash, key)
    }

    /// How many keys have permits out.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.each().map(|shard| shard.len()).sum()
    }

    /// Whether no permit is out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A place in the queue, or the answer if there is no need for one or none to be had.
    fn enter_or_queue<Q>(&self, key: &Q) -> Result<Waiting<'_, K>, Acquired<Permit<'_, K>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.shards.hash(key);
        let mut shard = self.shards.enter(hash);
        match shard.enter(hash, key, self.limit.get(), self.shards.hasher()) {
            Ok(place) => Err(Acquired::Granted(Permit { limit: self, place })),
            Err(full) if full.waiting >= self.queue => Err(self.refused(FullReason::QueueFull, full.in_use)),
            Err(full) => Ok(Waiting::new(self, full.place, shard.queue_up(full.place))),
        }
    }

    /// Takes a permit back, and wakes whoever has it now.
    pub(super) fn give_back(&self, place: Place) {
        let next = self.shards.enter(place.hash).give_back(place, self.shards.hasher());
        if let Some(waker) = next {
            waker.wake();
        }
    }

    pub(super) fn shard(&self, place: Place) -> MutexGuard<'_, Shard<K>> {
        self.shards.enter(place.hash)
    }

    fn refused<P>(&self, reason: FullReason, in_use: u32) -> Acquired<P> {
        Acquired::Refused(Full { reason, in_use, limit: self.limit.get(), retry_after: None })
    }
}

impl<K: Hash + Eq> Permit<'_, K> {
    fn owned_by(self, limit: Arc<InFlight<K>>) -> OwnedPermit<K> {
        let place = self.place;
        // The other gives it back now.
        mem::forget(self);
        OwnedPermit { limit, place }
    }
}

impl<K: Hash + Eq> Drop for Permit<'_, K> {
    fn drop(&mut self) {
        self.limit.give_back(self.place);
    }
}

impl<K: Hash + Eq> Drop for OwnedPermit<K> {
    fn drop(&mut self) {
        self.limit.give_back(self.place);
    }
}

impl<K> fmt::Debug for InFlight<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, queue, wait, .. } = self;
        f.debug_struct("InFlight")
            .field("limit", limit)
            .field("queue", queue)
            .field("wait", wait)
            .finish_non_exhaustive()
    }
}

impl<K: Hash + Eq> fmt::Debug for Permit<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<K: Hash + Eq> fmt::Debug for OwnedPermit<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}

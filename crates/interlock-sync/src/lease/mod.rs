//! A lock with a time limit, and a token that proves it at the write.
//!
//! A lock that outlives its holder needs a time limit, and a lock with a time limit can be lost while its holder still works: the
//! process was stopped, the machine slept, the network was cut. No renewal closes that gap. What closes it is the [fence](Fence): each
//! grant has a greater one, and a write carries the fence of its lease into the same atomic operation that checks whether the lease
//! still stands. A late holder's write is refused by the store, whatever the holder believes.
//!
//! # What it promises, and where
//!
//! * A mutation [under](Lease::guard) the lease takes effect only while the lease is held, as long as lease and record live in the same
//!   store. This does not depend on anyone's clock being right: a clock that jumps can only end a lease early, or keep others waiting.
//! * [`Lease::is_held`] is an estimate on the safe side, for work that has no fence: the time is counted from the moment at which the
//!   request was sent, so the holder gives up before the store does. It is wrong if this process is stopped right after it asked.
//! * If what is guarded lives elsewhere, in a file, another database or behind another service, the promise is only as good as what that
//!   place makes of the fence. Hand it on, and let it refuse one that is smaller than the greatest it has seen. If it cannot, two
//!   holders can overlap, rarely and for a short time.
//! * On Redis a grant can be lost with a failover or a crash of the server, because replication and the append-only file lag behind
//!   the answer. Records and leases are lost together then, but what lives elsewhere may see a second holder.

mod held;

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

pub use self::held::Lease;
use crate::{
    events,
    heard::{GiveBack, Heard},
    retry::{Polling, Retry, retry_store},
    spell::joined,
    store::{Fence, Key, LeaseAnswer, LeaseRequest, OpId, Reply, Store, StoreError, Wish},
    turn::Turns,
};

/// Shorter ones could not be renewed in time, longer ones not be waited for.
const TTL: std::ops::RangeInclusive<Duration> = Duration::from_millis(30)..=Duration::from_secs(24 * 60 * 60);

/// Takes leases from a store.
///
/// # Example
///
/// ```
/// # use std::{sync::Arc, time::Duration};
/// # use interlock_sync::{lease::Leases, memory::MemoryStore, store::{Change, Content, Expect, Key, OpId, Mutation, Store}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
/// let leases = Leases::new(store.clone(), Duration::from_secs(10));
/// let order = Key::new("order:17")?;
///
/// match leases.try_acquire(&order).await? {
///     Ok(lease) => {
///         let change = Change::Put { key: order, expect: Expect::Any, content: Content::Bytes(b"paid".to_vec()) };
///         store.mutate(&lease.guard(Mutation::new(OpId::fresh(), change))).await?;
///         lease.release().await?;
///     }
///     Err(busy) => println!("somebody else is at it, for {:?} at most", busy.retry_after),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Leases {
    store: Arc<dyn Store>,
    ttl: Duration,
}

/// Somebody else holds the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// With this fence.
    pub fence: Fence,
    /// For that long at most, unless it is renewed.
    pub retry_after: Duration,
}

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "somebody else holds the lease, for {:?} at most unless it is renewed", self.retry_after)
    }
}

impl std::error::Error for Busy {}

impl Leases {
    /// Leases of this length, which are renewed at a third of it. Long enough for a slow answer of the store, short enough to wait for
    /// after a crash: ten seconds is a good start. Between 30 ms and a day.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, ttl: Duration) -> Self {
        Self { store, ttl: ttl.clamp(*TTL.start(), *TTL.end()) }
    }

    /// Takes the lease if nobody holds it.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked. A lease that it may have granted all the same is given back in the background.
    ///
    /// # Cancel safety
    ///
    /// A lease that is granted to a dropped future is given back in the background, if there is a runtime to do so; otherwise it runs out by
    /// itself.
    pub async fn try_acquire(&self, key: &Key) -> Result<Result<Lease, Busy>, StoreError> {
        self.ask(self.request(key)).await
    }

    /// Takes the lease as soon as it is free, if that is before `patience` ends. Whoever waits stands in line: those who came before are
    /// served before, in whatever process they are. Only [`try_acquire`](Self::try_acquire) asks without looking at the line.
    ///
    /// The line costs a second question to the store before the lease itself is asked for.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    ///
    /// # Cancel safety
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub async fn acquire(&self, key: &Key, patience: Duration) -> Result<Result<Lease, Busy>, StoreError> {
        events::waiting_for("lease", key.as_str(), self.wait_for(key, patience)).await
    }

    async fn wait_for(&self, key: &Key, patience: Duration) -> Result<Result<Lease, Busy>, StoreError> {
        let request = self.request(key);
        let mut polling = Polling::often(patience);
        let turns = Turns { store: self.store.clone(), ttl: self.ttl };
        let line = Wish { key: joined("lease-line", &[key.as_str()]), is_shared: false };
        // Held until the lease is: whoever is next asks for the lease, and nobody else.
        let Some(_turn) = turns.take(vec![line], polling.deadline()).await? else {
            return self.ask(request).await;
        };
        loop {
            let busy = match self.ask(request.clone()).await? {
                Ok(lease) => return Ok(Ok(lease)),
                Err(busy) => busy,
            };
            // It may be given back any time, so it is asked for long before its time is up.
            if !polling.pause(busy.retry_after).await {
                return Ok(Err(busy));
            }
        }
    }

    fn request(&self, key: &Key) -> LeaseRequest {
        LeaseRequest { key: key.clone(), owner: OpId::fresh(), ttl: self.ttl }
    }

    async fn ask(&self, request: LeaseRequest) -> Result<Result<Lease, Busy>, StoreError> {
        // The store's time starts later than this, so ours ends earlier.
        let sent = Instant::now();
        let orphan = Orphan { store: self.store.clone(), request: request.clone() };
        let (store, key) = (self.store.clone(), request.key.clone());
        let asking = async move { store.acquire_lease(&request).await };
        match Heard::new(asking, orphan.clone()).await {
            Ok(LeaseAnswer::Held { fence, retry_after }) => Ok(Err(Busy { fence, retry_after })),
            Ok(LeaseAnswer::Granted { fence }) => {
                Ok(Ok(Lease::start(self.store.clone(), key, fence, self.ttl, sent)))
            }
            Err(error) => {
                if error.is_in_doubt() {
                    tokio::spawn(orphan.find_and_give_back());
                }
                Err(error)
            }
        }
    }
}

/// A lease that may have been granted to nobody.
#[derive(Debug, Clone)]
struct Orphan {
    store: Arc<dyn Store>,
    request: LeaseRequest,
}

impl GiveBack<Result<LeaseAnswer, StoreError>> for Orphan {
    async fn give_back(self, answer: Result<LeaseAnswer, StoreError>) {
        match answer {
            Ok(LeaseAnswer::Granted { fence }) => self.release(fence).await,
            Ok(LeaseAnswer::Held { .. }) => {}
            Err(error) if error.is_in_doubt() => self.find_and_give_back().await,
            Err(_) => {}
        }
    }
}

impl Orphan {
    /// Asks again by the same owner, who is told what it was granted.
    async fn find_and_give_back(self) {
        let ask = || -> Reply<'_, LeaseAnswer> { self.store.acquire_lease(&self.request) };
        if let Ok(LeaseAnswer::Granted { fence }) = retry_store(&Retry::brief(), ask).await {
            self.release(fence).await;
        }
    }

    async fn release(&self, fence: Fence) {
        // If this fails it runs out by itself, which is what its time limit is for.
        let release = || self.store.release_lease(&self.request.key, fence);
        let _ = retry_store(&Retry::brief(), release).await;
    }
}

#[cfg(test)]
mod tests;

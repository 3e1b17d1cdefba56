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
use crate::store::{Fence, Key, LeaseAnswer, LeaseRequest, OpId, Store, StoreError};

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

impl Leases {
    /// Leases of this length, which are renewed at a third of it. Long enough for a slow answer of the store, short enough to wait for
    /// after a crash: ten seconds is a good start.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, ttl: Duration) -> Self {
        Self { store, ttl }
    }

    /// Takes the lease if nobody holds it.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked. If the answer was lost the lease may have been granted; it runs out by itself.
    ///
    /// # Cancel safety
    ///
    /// A lease that was granted to a dropped future is never renewed, and runs out by itself.
    pub async fn try_acquire(&self, key: &Key) -> Result<Result<Lease, Busy>, StoreError> {
        let request = LeaseRequest { key: key.clone(), owner: OpId::fresh(), ttl: self.ttl };
        self.ask(&request).await
    }

    /// Takes the lease as soon as it is free, if that is before `patience` ends. Waiters are not served in order: whoever asks first
    /// after it became free gets it.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    ///
    /// # Cancel safety
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub async fn acquire(&self, key: &Key, patience: Duration) -> Result<Result<Lease, Busy>, StoreError> {
        let deadline = Instant::now() + patience;
        let request = LeaseRequest { key: key.clone(), owner: OpId::fresh(), ttl: self.ttl };
        loop {
            let busy = match self.ask(&request).await? {
                Ok(lease) => return Ok(Ok(lease)),
                Err(busy) => busy,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Err(busy));
            }
            // It may be given back any time; asking a few times within its length finds that soon, and costs little.
            let pause = busy.retry_after.min(self.ttl / 8).max(Duration::from_millis(1));
            tokio::time::sleep(jittered(pause).min(left)).await;
        }
    }

    async fn ask(&self, request: &LeaseRequest) -> Result<Result<Lease, Busy>, StoreError> {
        // The store's time starts later than this, so ours ends earlier.
        let sent = Instant::now();
        Ok(match self.store.acquire_lease(request).await? {
            LeaseAnswer::Held { fence, retry_after } => Err(Busy { fence, retry_after }),
            LeaseAnswer::Granted { fence } => {
                Ok(Lease::start(self.store.clone(), request.key.clone(), fence, self.ttl, sent))
            }
        })
    }
}

/// Half to all of a pause, so that waiters do not ask in step.
fn jittered(pause: Duration) -> Duration {
    let chance = (OpId::fresh().0 % 1_000) as u32;
    pause / 2 + pause * chance / 2_000
}

#[cfg(test)]
mod tests;

//! Leases: locks that are lost when their time is up, and the token that tells a late holder from the present one.

use std::time::Duration;

use super::{Key, OpId};

/// A fencing token. Of one key, each grant has a greater one than all before it, also after the lease was forgotten:
/// `max(previous + 1, the store's time in µs)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

/// A wish for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// What to lock.
    pub key: Key,
    /// Who asks: a new id for each attempt to take it, the same when the attempt is sent again.
    pub owner: OpId,
    /// For how long.
    pub ttl: Duration,
}

/// What became of a [`LeaseRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// It is yours.
    Granted {
        /// What proves it.
        fence: Fence,
    },
    /// Somebody else holds it.
    Held {
        /// With this fence.
        fence: Fence,
        /// Until then at the longest, unless it is renewed.
        retry_after: Duration,
    },
}

//! The port to a backend: whole atomic operations, each of them one step of the store and one round trip.
//!
//! Nothing here can be built from two calls without a gap between them, so a backend never sees half an operation: it runs each in
//! a mutex, one transaction, one script or one statement. A refusal is a value that carries what the caller needs; [`StoreError`] is
//! for when the store itself could not be asked or its answer was lost.
//!
//! | operations | for |
//! |---|---|
//! | [`get`](Store::get), [`list`](Store::list), [`mutate`](Store::mutate), [`applied`](Store::applied) | versioned records |
//! | [`acquire_lease`](Store::acquire_lease), [`renew_lease`](Store::renew_lease), [`release_lease`](Store::release_lease) | locks with a time limit and a fencing token |
//! | [`take`](Store::take) | rate limits |
//! | [`acquire_permit`](Store::acquire_permit), [`renew_permit`](Store::renew_permit), [`release_permit`](Store::release_permit) | in-flight limits |
//! | [`begin`](Store::begin), [`dispatch`](Store::dispatch), [`finish`](Store::finish), [`in_doubt`](Store::in_doubt) | idempotency |
//! | [`admit`](Store::admit), [`prolong`](Store::prolong), [`settle`](Store::settle) | all of a gateway's questions at once |
//! | [`append`](Store::append), [`read_log`](Store::read_log) | append-only logs |

mod admission;
mod error;
mod idempotency;
mod key;
mod lease;
mod permit;
mod rate;
mod record;
#[cfg(feature = "serde")]
mod serial;

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

pub use self::{
    admission::{Admission, Admitted, Charge, OnceKey, Places, Settlement, WaitsOn, Wish},
    error::StoreError,
    idempotency::{Attempt, Begun, Doubt, Ending, Fingerprint, Stored},
    key::{InvalidKey, Key},
    lease::{Fence, LeaseAnswer, LeaseRequest},
    permit::{PermitAnswer, PermitRequest},
    rate::{InvalidQuota, Quota, Taken, TooOften},
    record::{
        Applied, Change, Changed, Content, Expect, FenceCheck, InvalidId, Mutation, OpId, Outcome, Record,
        Refusal, Version,
    },
};
pub use crate::clock::Timestamp;

/// What keeps [`Store`] for the backends of this project. Not part of what is promised: it may change with any version.
#[doc(hidden)]
pub mod sealed {
    /// A backend of this project.
    pub trait Backend {}
}

/// What an operation of a [`Store`] returns: boxed, so that a store can be chosen by URL at run time.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Somebody who is told of keys that were given back: see [`Store::on_freed`].
pub type Freed = Arc<dyn Fn(&Key) + Send + Sync>;

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it says whether the entry stands in the log"]
pub enum Appended {
    /// The entry stands at this place, now or since it was first sent.
    At(u64),
    /// The id was used for another operation, which was applied. Nothing was appended, and never will be under this id.
    Mismatch,
}

impl Appended {
    /// The entry's place, if it stands in the log.
    #[must_use]
    pub fn place(self) -> Option<u64> {
        match self {
            Self::At(place) => Some(place),
            Self::Mismatch => None,
        }
    }
}

/// An entry of an append-only log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place; later entries have greater ones, and none is used twice.
    pub sequence: u64,
    /// When it was appended, by the store's clock.
    pub at: Timestamp,
    /// What was appended.
    pub entry: Vec<u8>,
}

/// A backend. Every method takes effect at one moment between its call and its answer, for all callers in all processes.
///
/// # Cancel safety
///
/// Dropping a future may leave the operation applied or not. Mutations and appends carry an [`OpId`], leases and permits an owner, so asking
/// again is safe and says which.
///
/// # Sealed
///
/// Backends are those of this crate and of `interlock-store`. The trait can be used by everybody and implemented by nobody else, so that an
/// operation can be added without breaking anyone; whoever needs another backend says so.
pub trait Store: sealed::Backend + fmt::Debug + Send + Sync + 'static {
    /// The store's own clock. All time limits are judged by it.
    fn now(&self) -> Reply<'_, Timestamp>;

    /// The record, or `None`.
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>>;

    /// At most `limit` records whose keys start with `prefix`, in order of their keys, after `after`.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>>;

    /// Changes records, all or nothing.
    ///
    /// A mutation whose [`OpId`] was applied before changes nothing and returns what it did then, marked as replayed; one that says
    /// something else under that id is refused as a [mismatch](Refusal::Mismatch). A refusal is not remembered: nothing has happened, and
    /// the same id may be tried again.
    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome>;

    /// What a mutation or an [`append`](Store::append) did, if it was applied within the store's memory for op-ids (24 hours unless configured): how a lost answer
    /// is resolved.
    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>>;

    /// Takes a lease, if nobody holds it. The owner that holds it already gets its own grant again.
    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer>;

    /// Prolongs a lease from now on; `false` if it is not held with this fence any more.
    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool>;

    /// Gives a lease back; `false` if it was not held with this fence any more.
    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool>;

    /// Tests a quota and counts in one step. `cost` units are taken, or none.
    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken>;

    /// Takes a permit, if fewer than the limit are out. The holder that has one already keeps it, prolonged.
    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer>;

    /// Prolongs a permit from now on; `false` if the holder has none any more.
    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool>;

    /// Gives a permit back; `false` if the holder had none any more.
    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool>;

    /// Reserves an idempotency key, or says what became of it.
    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun>;

    /// Notes that the effect is about to start, and prolongs the reservation; `false` if it is not held with this fence any more,
    /// and then the effect must not start.
    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool>;

    /// Stores how the attempt ended, for `keep`; `false` if it is not held with this fence any more. An attempt that was dispatched
    /// can be finished also after its time ran out.
    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool>;

    /// At most `limit` effects that are in doubt now, of keys that start with `prefix`, in order of their keys, after `after`.
    ///
    /// For people and for what they run now and then, not for every call: a store may have to look at all attempts for it, and Redis is
    /// asked in more than one step, between which something can begin or end to be in doubt.
    fn in_doubt<'a>(&'a self, prefix: &'a str, after: Option<&'a Key>, limit: usize)
    -> Reply<'a, Vec<Doubt>>;

    /// Decides whether a call may run now: its rates, its places in flight, its locks, its idempotency key and its reader's freshness, at
    /// one moment. The call that was granted already gets its grant again.
    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted>;

    /// Holds everything of a call for `ttl` from now on; `false`, and nothing changes, if something of it is not held with this fence any
    /// more.
    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool>;

    /// Ends a call: raises the versions of what it changed, stores how its effect ended, then gives its locks and places back; or takes it
    /// out of the line. `false` if it was settled before, or its time had run out; versions rise and the ending is stored also then,
    /// unless another has the idempotency key since.
    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool>;

    /// Wants to be told when a call, of whichever process, has given back a lock or a place that others stand in line for: `freed` gets its
    /// key, and must return at once. Whoever asked before is told no more.
    ///
    /// It is a hint, which may come late, twice or not at all, so whoever waits asks now and then all the same. A store that has no way to tell, or no
    /// other processes to tell of, never does.
    fn on_freed(&self, freed: Freed) {
        let _ = freed;
    }

    /// Appends to a log and returns the entry's place.
    ///
    /// An append whose [`OpId`] was applied before appends nothing and returns the place from then, or that the id was used for something
    /// else. [`applied`](Store::applied) knows it, too: the log is what changed, and the place stands for its version.
    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended>;

    /// At most `limit` entries of a log behind the place `after`.
    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>>;

    /// Lets go of the store: what was handed over is done, what can be written out is, and whatever comes later is refused. For the end of a
    /// program; a store that is dropped does the same as far as it can without waiting. Can be called again.
    fn close(&self) -> Reply<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Removes what has expired, and says how much that was. Stores also do this by themselves, now and then.
    fn sweep(&self) -> Reply<'_, u64>;
}

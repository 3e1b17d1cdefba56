//! Admission: everything that decides whether a call may run now, in one step.
//!
//! A gateway that asked for a rate, then for a place, then for a lock would race itself between the questions. So it asks once: the rate
//! is charged, the place and all locks are taken, the idempotency key is reserved and freshness is judged at one moment, or nothing of it
//! happens. What was granted is settled in one step, too: versions rise before the locks go.
//!
//! # In which order a call is judged
//!
//! 1. It holds everything already: it gets the same grant again, for `ttl` from now.
//! 2. Rates, all or none; charged on arrival, also if what follows refuses it or makes it wait.
//! 3. The idempotency key: another request's, ended, in doubt, or under way.
//! 4. Locks and places. Nobody overtakes one who came before and still stands in line for the same key, unless both would share it. Of
//!    places, those who came before are left one each.
//! 5. Freshness, when the locks could be had.
//!
//! Every key is named once in each list. Locks and places are apart from the leases and permits of the other operations; rate limits and
//! idempotency keys are the same, so that [`finish`](super::Store::finish) can say how an effect in doubt ended.
//!
//! # What is forgotten when
//!
//! A place in line goes `patience` after its call last asked, a grant `ttl` after it was given or prolonged. A view goes `remember` after it
//! was recorded, a version `remember` after it was last raised. So when a version is forgotten, every view from before it has gone, and a
//! reader that is remembered at a key without a version has seen what is there. This needs one `remember` for all calls of a store: a
//! shorter one for a change than for a view would let a stale reader pass.

use std::time::Duration;

use super::{Ending, Fence, Fingerprint, Key, OpId, Quota, Stored};

/// A call that wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// Which call: a new id for each, the same when it asks again.
    pub call: OpId,
    /// What it is charged for, one each, on its first asking only; all or none.
    pub charges: Vec<Charge>,
    /// The places it needs one of each; usually one.
    pub places: Vec<Places>,
    /// What it locks: sorted by key, each key once.
    pub locks: Vec<Wish>,
    /// The effect it must not repeat.
    pub once: Option<OnceKey>,
    /// Who reads, for `observes` and `requires_fresh`; without a reader both must be empty.
    pub reader: Option<Key>,
    /// What this call reads: the reader has seen the version of this moment.
    pub observes: Vec<Key>,
    /// What must not have changed since the reader last saw it.
    pub requires_fresh: Vec<Key>,
    /// How long what is granted is held, unless it is prolonged.
    pub ttl: Duration,
    /// How long a reader's view is remembered, and the version of what changed.
    pub remember: Duration,
    /// Whether it has asked before: it is not charged again. A call that stands in line or holds its grant is known, and is not charged
    /// again in any case.
    pub is_again: bool,
    /// How long its place in line stands unless it asks again; zero for a call that does not wait.
    pub patience: Duration,
}

impl Admission {
    /// A call that asks for nothing yet and does not wait. What it will be granted and what is remembered of it lasts for `ttl`.
    #[must_use]
    pub const fn new(call: OpId, ttl: Duration) -> Self {
        Self {
            call,
            charges: vec![],
            places: vec![],
            locks: vec![],
            once: None,
            reader: None,
            observes: vec![],
            requires_fresh: vec![],
            ttl,
            remember: ttl,
            is_again: false,
            patience: Duration::ZERO,
        }
    }
}

/// One rate limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Whose, of what.
    pub key: Key,
    /// How often.
    pub quota: Quota,
}

/// One in-flight limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Whose, of what.
    pub key: Key,
    /// How many at once.
    pub limit: u32,
}

/// One lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Of what.
    pub key: Key,
    /// Whether others may share it.
    pub is_shared: bool,
}

/// An effect that happens once, by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceKey {
    /// What makes two calls the same.
    pub key: Key,
    /// What the call says, so that another one under the same key is noticed.
    pub fingerprint: Fingerprint,
    /// How long the key is remembered if nothing more is heard of it.
    pub keep: Duration,
}

/// What became of an [`Admission`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    /// It may run, and holds all it asked for. The idempotency key counts as dispatched.
    Granted {
        /// Greater than that of every earlier grant of any of its locks and of its idempotency key.
        fence: Fence,
    },
    /// It was called too often. Nothing was charged, by no limit.
    TooOften {
        /// By which limit: the one that takes longest to have room again.
        key: Key,
        /// When the same call would pass if nobody else comes.
        retry_after: Option<Duration>,
    },
    /// Not now. If it had patience it stands in the line of each of its locks and places, and is to ask again. It holds nothing. Who
    /// waits for the same call stands in no line.
    Waits {
        /// For what; for locks if it waits for both.
        on: WaitsOn,
        /// How many stand before it, in the line where that is most: at 0 it is first everywhere.
        ahead: u32,
        /// When what it waits for runs out at the latest, unless it is prolonged: the time of the holders, or if there are none, that of
        /// the first in line.
        retry_after: Duration,
    },
    /// The same call, by its key, was done before.
    Ended(Stored),
    /// The key was used for another request.
    Mismatch,
    /// The same call, by its key, was started, and nobody knows how it ended.
    InDoubt,
    /// What it must have seen changed since, or was never seen. Nothing is held.
    Stale {
        /// Which, and whether the reader had ever seen it.
        keys: Vec<(Key, bool)>,
    },
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitsOn {
    /// Locks that others hold, or that others wait for before it.
    Locks(Vec<Key>),
    /// A place in flight, of the first key that has none left.
    Place(Key),
    /// The same call, by its idempotency key, which is under way.
    Same(Key),
}

impl Settlement {
    /// The end of a call that never ran: it leaves every line, and gives back what it was granted without knowing.
    #[must_use]
    pub const fn never_ran(call: OpId) -> Self {
        Self {
            call,
            fence: None,
            places: vec![],
            locks: vec![],
            once: None,
            reader: None,
            changes: vec![],
            is_success: false,
            remember: Duration::ZERO,
        }
    }
}

/// How a call that was granted, or that stood in line, ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// Which call.
    pub call: OpId,
    /// The fence it was granted with. `None` for a call that never ran: it leaves the line, and if it was granted and does not know, gives
    /// everything back, the idempotency key included.
    pub fence: Option<Fence>,
    /// The keys of the places and locks that it has or waits for.
    pub places: Vec<Key>,
    /// The locks.
    pub locks: Vec<Key>,
    /// The idempotency key, with how the effect ended and for how long that is told again; without an ending it stays in doubt when its
    /// time runs out.
    pub once: Option<(Key, Option<Ending>, Duration)>,
    /// Who reads.
    pub reader: Option<Key>,
    /// What may have changed: its version rises, before the locks go, and also if they had gone already. Settled again, the same call
    /// raises it once more only if another has raised it since, which costs a reader an extra look and nothing else.
    pub changes: Vec<Key>,
    /// Whether the reader, if it was fresh, counts as having seen its own change.
    pub is_success: bool,
    /// How long versions and views are remembered.
    pub remember: Duration,
}

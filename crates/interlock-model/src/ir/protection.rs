//! What keeps another call out: locks and transactions, with what is needed to judge how far they reach.

use serde::{Deserialize, Serialize};

use super::{AccessPath, Root, Term};

/// A lock. Two effects are under the same one only if they [name the same](Lock::is_the_same_as).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lock {
    /// The lock object. One that this call has [made](super::Op::New) and shown to nobody keeps nobody out.
    pub object: AccessPath,
    /// Which of many, for a keyed lock.
    pub key: Option<Term>,
    /// How many it lets in.
    pub kind: LockKind,
    /// Whom it keeps out.
    pub scope: Scope,
    /// Its time limit, if it has one.
    pub lease: Option<Lease>,
}

/// How many holders a lock lets in at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LockKind {
    /// One, or many readers.
    Mutex,
    /// A number of permits: bounds the work, protects no state.
    Semaphore,
}

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Calls of the same process.
    InProcess,
    /// Calls of every process that uses the resource.
    CrossProcess,
}

/// A lock that is lost when its time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// Whether it is prolonged while the work runs.
    pub renewed: bool,
    /// Whether the guarded write proves that the lease still stands.
    pub fenced: bool,
}

/// In which way a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Hold {
    /// Alone.
    Exclusive,
    /// With other readers.
    Shared,
}

/// A stretch of statements that take effect together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Transaction {
    /// The connection it is opened on. Statements that go another way are not in it.
    pub via: Via,
    /// What it promises about rows that were read in it.
    pub isolation: Isolation,
}

/// Which way a statement goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Via {
    /// One connection.
    Client(AccessPath),
    /// A pool that may send each statement over another connection: a `BEGIN` through it covers nothing.
    Pool(AccessPath),
}

impl Via {
    /// The name that stands for a connection of which nothing is known.
    const UNKNOWN: &str = "?";

    /// A connection of which nothing is known, not even to whom it belongs.
    #[must_use]
    pub fn unknown() -> Self {
        Self::Client(AccessPath::global(Self::UNKNOWN))
    }

    /// Whether nothing is known of it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Client(AccessPath { root: Root::Global(name), .. }) if &**name == Self::UNKNOWN)
    }
}

/// What happens to a row that was read in a transaction and is changed by another before the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Isolation {
    /// The change is seen by the next statement; the judgement is stale. MySQL's REPEATABLE READ writes behave so too.
    ReadCommitted,
    /// A write to the changed row fails: snapshot isolation, PostgreSQL's REPEATABLE READ, MongoDB.
    FirstUpdaterWins,
    /// There is no other writer: SQLite's BEGIN IMMEDIATE, Redis' MULTI.
    SingleWriter,
    /// As if one after another.
    Serializable,
    /// Whatever the engine does by default, where the source does not say which engine it is.
    Unknown,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Finish {
    /// It takes effect.
    Commit,
    /// It never was.
    Rollback,
}

impl Lock {
    /// Whether it is sure to be the same lock, however it is held and whatever its time limit.
    #[must_use]
    pub fn is_the_same_as(&self, other: &Self) -> bool {
        let same_key = match (&self.key, &other.key) {
            (Some(key), Some(other)) => key.names_the_same_as(other),
            (None, None) => true,
            _ => false,
        };
        same_key && self.scope == other.scope && self.object.names_the_same_as(&other.object)
    }

    /// A mutex for the calls of one process.
    #[must_use]
    pub const fn in_process(object: AccessPath) -> Self {
        Self { object, key: None, kind: LockKind::Mutex, scope: Scope::InProcess, lease: None }
    }

    /// A lock that other processes respect as well.
    #[must_use]
    pub fn cross_process(object: AccessPath) -> Self {
        Self { scope: Scope::CrossProcess, ..Self::in_process(object) }
    }

    /// The one lock of many that belongs to a key.
    #[must_use]
    pub fn keyed(self, key: impl Into<Term>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The same lock with a time limit.
    #[must_use]
    pub fn leased(self, lease: Lease) -> Self {
        Self { lease: Some(lease), ..self }
    }

    /// The same lock, letting several in.
    #[must_use]
    pub fn semaphore(self) -> Self {
        Self { kind: LockKind::Semaphore, ..self }
    }
}

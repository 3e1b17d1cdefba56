//! How a hazard is stopped: today by the guard, for good by the library.

use std::fmt;

use crate::{KeyTemplate, ToolPolicy};

/// Where a remedy is wanted: what a hazard's `remedy.rs` fills its policy with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// The tools that change the state.
    pub tools: Vec<String>,
    /// The tools that only read it.
    pub readers: Vec<String>,
    /// The state they meet at.
    pub keys: Vec<KeyTemplate>,
}

/// What to do about a hazard at one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// One sentence: how the code is written right.
    pub code: String,
    /// Rules for the guard that stop it in front of the unchanged server; empty where the guard cannot.
    pub policy: Vec<ToolPolicy>,
    /// The part of `interlock-sync` that is made for it, if there is one.
    pub primitive: Option<Primitive>,
}

/// The parts of `interlock-sync`, by what they guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Primitive {
    /// One holder per key, in order of arrival.
    KeyedLock,
    /// A record that is written only if it is still the one that was read.
    VersionedRecord,
    /// A lock with a time limit, and a token that proves it at the write.
    Lease,
    /// Compare and count in one step.
    RateLimit,
    /// At most so many at once, per caller.
    InFlightLimit,
    /// One effect per key, its answer replayed.
    Idempotency,
    /// No call after close; close waits for those inside.
    Gate,
    /// Files that are created, replaced and compared atomically, inside one root.
    Files,
    /// A counter per session that loses nothing.
    SessionCounter,
    /// One load per key, shared by all who wait.
    SingleFlight,
    /// Bounded tries with growing, jittered delay.
    Retry,
}

impl Primitive {
    /// What it is called in prose.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyedLock => "keyed lock",
            Self::VersionedRecord => "versioned record",
            Self::Lease => "lease",
            Self::RateLimit => "rate limit",
            Self::InFlightLimit => "in-flight limit",
            Self::Idempotency => "idempotency",
            Self::Gate => "gate",
            Self::Files => "files under a root",
            Self::SessionCounter => "session counter",
            Self::SingleFlight => "single flight",
            Self::Retry => "retry policy",
        }
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

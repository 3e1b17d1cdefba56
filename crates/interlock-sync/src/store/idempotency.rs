//! One effect per key: who is at it, how far it got, and how it ended.

use std::time::Duration;

use super::{Fence, Key, OpId};

/// An attempt to do something once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What makes two requests the same: chosen by the client, never computed from the request alone.
    pub key: Key,
    /// What the request says, so that another one under the same key is noticed.
    pub fingerprint: Fingerprint,
    /// Who asks: a new id for each attempt, the same when the attempt is sent again.
    pub owner: OpId,
    /// How long the reservation stands unless it is dispatched.
    pub ttl: Duration,
    /// How long the key is remembered if nothing more is heard of it.
    pub keep: Duration,
}

/// What a request says, folded to a fixed size. Equal requests have equal ones; whoever makes it says what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Its first half, which is enough to tell operations apart that share an id.
    #[must_use]
    pub fn short(&self) -> [u8; 16] {
        let mut short = [0; 16];
        for (byte, of_whole) in short.iter_mut().zip(self.0) {
            *byte = of_whole;
        }
        short
    }
}

/// What became of an [`Attempt`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is yours: dispatch, do it, finish.
    Reserved {
        /// What the next steps are conditional on.
        fence: Fence,
    },
    /// Somebody else is at it.
    Running {
        /// When to ask again: what is left of the other's time.
        retry_after: Duration,
    },
    /// It was done before.
    Ended(Stored),
    /// The key was used for another request.
    Mismatch,
    /// It was dispatched, and its time ran out before an ending was stored: the effect may have happened. Never run again by itself.
    InDoubt {
        /// The fence of that attempt, with which it can still be finished once somebody knows.
        fence: Fence,
    },
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The effect happened; this was the answer.
    Completed(Vec<u8>),
    /// The effect did not happen; this was the answer.
    Failed(Vec<u8>),
}

/// An ending that is told again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The ending.
    pub ending: Ending,
}

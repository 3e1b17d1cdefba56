//! One effect per key: who is at it, how far it got, and how it ended.

use std::{fmt, str::FromStr, time::Duration};

use super::{Fence, InvalidId, Key, OpId, Timestamp};

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

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidId;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let wrong = InvalidId { digits: 64 };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).ok_or(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong)?;
        }
        Ok(Self(bytes))
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

/// An effect of which nobody knows whether it happened: it was dispatched, and its time ran out before an ending was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Its idempotency key.
    pub key: Key,
    /// The fence of the attempt that vanished, with which it can be finished once somebody knows.
    pub fence: Fence,
    /// Since when nobody is known to be at it, by the store's clock.
    pub since: Timestamp,
}

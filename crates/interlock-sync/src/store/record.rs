//! Versioned records, and the changes that a store makes to them in one step.

use std::{fmt, str::FromStr};

use super::{Fence, Fingerprint, Key, Timestamp};
use crate::clock::{Clock, SystemClock};

/// What a record held at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Raised by every change.
    pub version: Version,
    /// What it holds.
    pub content: Content,
}

/// A version: unique in its store, and greater than all that were given out there before.
///
/// It is not a count per record, so that a record which was deleted and made again never shows a version that somebody still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// What a record holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// A number, which the store itself can add to.
    Number(i64),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// The identity of one intended operation. Sent again it is the same operation; meant again it has another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u128);

/// A change of records that takes effect whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Which operation it is.
    pub op: OpId,
    /// What it does.
    pub change: Change,
    /// The lease that must still be held when it takes effect.
    pub fence: Option<FenceCheck>,
    /// What the operation is, where two changes say the same in different words; see [`meaning`](Mutation::meaning). Otherwise its change.
    pub intent: Option<Fingerprint>,
}

/// What a [`Mutation`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Writes a record.
    Put {
        /// Which.
        key: Key,
        /// Only if it is so now.
        expect: Expect,
        /// What it shall hold.
        content: Content,
    },
    /// Removes a record.
    Delete {
        /// Which.
        key: Key,
        /// Only if it is so now; [`Expect::Absent`] is always refused.
        expect: Expect,
    },
    /// Adds to a number, unless it would fall below the floor.
    Add {
        /// Which.
        key: Key,
        /// How much; a debit is negative.
        delta: i64,
        /// The least it may be afterwards. Ignored for a positive `delta`: a credit is never refused.
        floor: Option<i64>,
    },
    /// Moves an amount from one number to another; both change or neither.
    Transfer {
        /// From which.
        from: Key,
        /// To which; the same as `from` changes nothing but the version.
        to: Key,
        /// How much; must be positive.
        amount: i64,
        /// The least that `from` may be afterwards.
        floor: i64,
    },
}

/// What must be so for a change to take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// There is no such record.
    Absent,
    /// It is there, in this version.
    Version(Version),
    /// It is there, in whatever version.
    Present,
    /// Anything: the last writer wins. For what nobody decides on.
    Any,
}

/// A lease that must be held, with this fence, at the moment the change takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceCheck {
    /// The lease's key.
    pub lease: Key,
    /// The fence it was granted with.
    pub fence: Fence,
}

/// How a mutation came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It took effect.
    Applied(Applied),
    /// It did not, and this is why.
    Refused(Refusal),
}

/// What a mutation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// When, by the store's clock.
    pub at: Timestamp,
    /// The records it changed, in the order in which the change names them.
    pub changed: Vec<Changed>,
    /// Whether it had been applied before, and only its answer is given again.
    pub replayed: bool,
}

/// What became of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Which.
    pub key: Key,
    /// Its version before; `None` if it was made.
    pub from: Option<Version>,
    /// Its version now; `None` if it was removed.
    pub to: Option<Version>,
    /// What a number is now.
    pub number: Option<i64>,
}

/// Why a mutation did not take effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The record is not as expected; this is how it is.
    Conflict {
        /// Which.
        key: Key,
        /// What it holds now.
        current: Option<Record>,
    },
    /// There is no such record to add to or take from.
    Missing {
        /// Which.
        key: Key,
    },
    /// It would fall below the floor.
    Short {
        /// Which.
        key: Key,
        /// What is there.
        available: i64,
    },
    /// It would not fit a number of 64 bits.
    Overflow {
        /// Which.
        key: Key,
    },
    /// It holds no number, or the amount is not positive.
    NotANumber {
        /// Which.
        key: Key,
    },
    /// The lease is not held with this fence any more.
    Fenced {
        /// The fence of whoever holds it now, if anyone does.
        current: Option<Fence>,
    },
    /// The id was used for another operation, which was applied. This one was not, and never will be under this id.
    Mismatch {
        /// The id.
        op: OpId,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { key, current: None } => write!(f, "`{key}` is not there"),
            Self::Conflict { key, current: Some(record) } => {
                write!(f, "`{key}` is not as expected: it has version {}", record.version.0)
            }
            Self::Missing { key } => write!(f, "there is no `{key}`"),
            Self::Short { key, available } => write!(f, "`{key}` is too low: {available} is there"),
            Self::Overflow { key } => write!(f, "`{key}` would be too great or too small for a number"),
            Self::NotANumber { key } => write!(f, "`{key}` holds no number, or the amount is not positive"),
            Self::Fenced { .. } => f.write_str("the lease is not held any more"),
            Self::Mismatch { op } => write!(f, "the id {op} was used for another operation"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Outcome {
    /// As a result, for `?`.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn into_result(self) -> Result<Applied, Refusal> {
        match self {
            Self::Applied(applied) => Ok(applied),
            Self::Refused(refusal) => Err(refusal),
        }
    }
}

impl Mutation {
    /// A mutation that no lease guards.
    #[must_use]
    pub fn new(op: OpId, change: Change) -> Self {
        Self { op, change, fence: None, intent: None }
    }

    /// The same, only while a lease is held.
    #[must_use]
    pub fn under(self, lease: Key, fence: Fence) -> Self {
        Self { fence: Some(FenceCheck { lease, fence }), ..self }
    }

    /// The same, as one of several ways to do what has this fingerprint. Those share one id, and whichever is applied is the answer to
    /// all: a counter is added to if it is there, and made if it is not.
    #[must_use]
    pub fn meaning(self, intent: Fingerprint) -> Self {
        Self { intent: Some(intent), ..self }
    }

    /// What tells it from another operation under the same id: what it means, or else what it changes. The lease does not count: the same
    /// change may be sent again under another one.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.intent.unwrap_or_else(|| self.change.fingerprint())
    }
}

impl Change {
    /// What the change says, folded to a fixed size. It is remembered with the id, so it stays the same from release to release.
    fn fingerprint(&self) -> Fingerprint {
        let number = |number: i64| number.to_le_bytes();
        match self {
            Self::Put { key, expect, content } => {
                let (kind, content) = match content {
                    Content::Number(value) => (&b"number"[..], &number(*value)[..]),
                    Content::Bytes(bytes) => (&b"bytes"[..], &bytes[..]),
                };
                Fingerprint::of_parts([b"put", key.as_str().as_bytes(), &expect.to_bytes(), kind, content])
            }
            Self::Delete { key, expect } => {
                Fingerprint::of_parts([&b"delete"[..], key.as_str().as_bytes(), &expect.to_bytes()])
            }
            Self::Add { key, delta, floor } => {
                // A credit has no floor, whatever it says.
                let floor = floor.filter(|_| *delta < 0).map(number);
                let floor = floor.as_ref().map_or(&b""[..], |floor| &floor[..]);
                Fingerprint::of_parts([b"add", key.as_str().as_bytes(), &number(*delta), floor])
            }
            Self::Transfer { from, to, amount, floor } => Fingerprint::of_parts([
                &b"transfer"[..],
                from.as_str().as_bytes(),
                to.as_str().as_bytes(),
                &number(*amount),
                &number(*floor),
            ]),
        }
    }

    /// The records it touches, in the order in which it names them.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        let (first, second) = match self {
            Self::Put { key, .. } | Self::Delete { key, .. } | Self::Add { key, .. } => (key, None),
            Self::Transfer { from, to, .. } => (from, (to != from).then_some(to)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Expect {
    fn to_bytes(self) -> [u8; 9] {
        let (kind, version) = match self {
            Self::Absent => (0, 0),
            Self::Version(Version(version)) => (1, version),
            Self::Present => (2, 0),
            Self::Any => (3, 0),
        };
        let mut bytes = [kind; 9];
        for (byte, of_version) in bytes.iter_mut().skip(1).zip(version.to_le_bytes()) {
            *byte = of_version;
        }
        bytes
    }
}

impl OpId {
    /// The operation that a fingerprint stands for: the same each time, so that whoever knows of what it was made can ask whether it was
    /// applied. It lies anywhere among the ids of a store; where it need not be found again, [`fresh`](Self::fresh) is cheaper to write.
    #[must_use]
    pub fn derived(from: Fingerprint) -> Self {
        Self(u128::from_be_bytes(from.short()))
    }

    /// A new operation: unpredictable, and never the same twice.
    ///
    /// It begins with the time in ms, and 80 bits of chance follow. So the ids of one moment are neighbours in a store's index, and many of
    /// them are written with few of its pages.
    ///
    /// # Panics
    ///
    /// When the operating system has no randomness to give, which Linux always has after boot.
    #[must_use]
    pub fn fresh() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        let (Timestamp(now), chance) = (SystemClock.now(), u128::from_le_bytes(bytes));
        Self((u128::from(now / 1_000) << 80) | (chance >> 48))
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text is no id or fingerprint: as many hexadecimal digits as it is displayed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id of {digits} hexadecimal digits was expected")]
pub struct InvalidId {
    pub(super) digits: usize,
}

impl FromStr for OpId {
    type Err = InvalidId;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let is_whole = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = is_whole.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        id.map(Self).ok_or(InvalidId { digits: 32 })
    }
}

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "Number({number})"),
            Self::Bytes(bytes) => write!(f, "Bytes({:?})", String::from_utf8_lossy(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_begins_with_its_moment_and_is_like_no_other() {
        let before = SystemClock.now().0 / 1_000;
        let ids: Vec<u128> = (0..1_000).map(|_| OpId::fresh().0).collect();
        let after = SystemClock.now().0 / 1_000;
        let moments = u128::from(before)..=u128::from(after);
        assert!(ids.iter().all(|id| moments.contains(&(id >> 80))));
        let chances: std::collections::HashSet<u128> = ids.iter().map(|id| id % (1 << 80)).collect();
        assert_eq!(chances.len(), ids.len());
    }
}

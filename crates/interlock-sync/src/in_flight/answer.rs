//! What became of the wish for a permit.

use std::{fmt, time::Duration};

/// A permit, or why there is none.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit that is dropped is given back"]
pub enum Acquired<P> {
    /// It is yours until you drop it.
    Granted(P),
    /// There is none.
    Refused(Full),
}

/// Why there is no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// What stood in the way.
    pub reason: FullReason,
    /// How many permits of this caller were out.
    pub in_use: u32,
    /// How many may be.
    pub limit: u32,
    /// When one comes back at the latest, unless its holder goes on; `None` if nobody can say.
    pub retry_after: Option<Duration>,
}

/// What stood in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullReason {
    /// All permits were out, and the call did not want to wait.
    AllOut,
    /// As many were waiting as may.
    QueueFull,
    /// None came back in time.
    Deadline,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { in_use, limit, .. } = self;
        match self.reason {
            FullReason::AllOut => write!(f, "{in_use} of {limit} permits are out"),
            FullReason::QueueFull => {
                write!(f, "all {limit} permits are out, and as many wait for one as may")
            }
            FullReason::Deadline => write!(f, "none of {limit} permits came back in time"),
        }
    }
}

impl std::error::Error for Full {}

impl<P> Acquired<P> {
    /// The permit, if there is one.
    pub fn granted(self) -> Option<P> {
        self.into_result().ok()
    }

    /// As a result, for `?`.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn into_result(self) -> Result<P, Full> {
        match self {
            Self::Granted(permit) => Ok(permit),
            Self::Refused(busy) => Err(busy),
        }
    }

    /// The same with another permit.
    pub(super) fn map<R>(self, change: impl FnOnce(P) -> R) -> Acquired<R> {
        match self {
            Self::Granted(permit) => Acquired::Granted(change(permit)),
            Self::Refused(busy) => Acquired::Refused(busy),
        }
    }
}

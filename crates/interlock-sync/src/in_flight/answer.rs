//! What became of the wish for a permit.

use std::time::Duration;

/// A permit, or why there is none.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit that is dropped is given back"]
pub enum Admission<P> {
    /// It is yours until you drop it.
    Granted(P),
    /// There is none.
    Refused(Busy),
}

/// Why there is no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// What stood in the way.
    pub reason: Reason,
    /// How many permits of this caller were out.
    pub in_use: u32,
    /// How many may be.
    pub limit: u32,
    /// When one comes back at the latest, unless its holder goes on; `None` if nobody can say.
    pub retry_after: Option<Duration>,
}

/// What stood in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// All permits were out, and the call did not want to wait.
    Full,
    /// As many were waiting as may.
    QueueFull,
    /// None came back in time.
    Deadline,
}

impl<P> Admission<P> {
    /// The permit, if there is one.
    pub fn granted(self) -> Option<P> {
        self.into_result().ok()
    }

    /// As a result, for `?`.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn into_result(self) -> Result<P, Busy> {
        match self {
            Self::Granted(permit) => Ok(permit),
            Self::Refused(busy) => Err(busy),
        }
    }

    /// The same with another permit.
    pub(super) fn map<R>(self, change: impl FnOnce(P) -> R) -> Admission<R> {
        match self {
            Self::Granted(permit) => Admission::Granted(change(permit)),
            Self::Refused(busy) => Admission::Refused(busy),
        }
    }
}

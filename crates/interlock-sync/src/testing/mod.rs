//! What tests share: a store that misbehaves, on time that tokio pauses, and futures driven by hand.

#[cfg(test)]
mod drive;
mod faulty;

use crate::clock::{Clock, Timestamp};

#[cfg(test)]
pub(crate) use self::drive::{poll_at_most, poll_once, settle};
pub use self::faulty::{Fault, FaultyStore, Op};

/// Tokio's time, which a test pauses, as the clock of a store.
#[derive(Debug)]
pub struct TokioClock(tokio::time::Instant);

impl TokioClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000_000).after(self.0.elapsed())
    }
}

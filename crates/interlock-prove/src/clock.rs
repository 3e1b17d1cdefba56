//! The clock that every process of the machine shares, so that what a server notes can be put beside what we sent.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock: `clock_gettime(CLOCK_MONOTONIC)` in C, `process.hrtime.bigint()` in Node,
/// `time.monotonic_ns()` in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub u64);

impl Instant {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Self(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or_default())
    }

    /// How long after an earlier moment; nothing if it was not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

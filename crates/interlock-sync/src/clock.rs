//! Time as an argument: the real clock, one that never goes back, and one that a test moves.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A moment: µs since 1970. Fits a JavaScript number until the year 2255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// Where a store on this machine gets its time from.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// The machine's clock as it was when this one was made, and from then on time that never goes back and is never set. For what lives
/// no longer than the process.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    /// How far the machine's clock was ahead of the steady one.
    ahead: u64,
}

/// The machine's steady clock: from some moment at or after its start, never set, and the same for all processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SteadyClock;

/// A clock that stands still until it is told to move, forwards or back.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl Timestamp {
    /// The moment that much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)))
    }

    /// The moment that much earlier; not before 1970.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)))
    }

    /// How long it is from an earlier moment to this one; zero if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        Timestamp(steady_micros())
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self { ahead: SystemClock.now().0.wrapping_sub(steady_micros()) }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp(steady_micros().wrapping_add(self.ahead))
    }
}

/// The steady clock of the system, from some moment on. A fifth faster than [`std::time::Instant`], which is most of what a rate limit
/// costs.
#[cfg(target_os = "linux")]
#[inline]
fn steady_micros() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Neither is ever negative, and there are fewer than 2^30 ns in a second.
    now.tv_sec as u64 * 1_000_000 + u64::from(now.tv_nsec as u32 / 1000)
}

/// The steady clock of the system, from some moment on.
#[cfg(not(target_os = "linux"))]
fn steady_micros() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let since = START.get_or_init(std::time::Instant::now).elapsed();
    since.as_secs() * 1_000_000 + u64::from(since.subsec_micros())
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl ManualClock {
    /// A clock that stands at this moment.
    #[must_use]
    pub fn at(moment: Timestamp) -> Self {
        Self(AtomicU64::new(moment.0))
    }

    /// Moves it forwards.
    pub fn advance(&self, by: Duration) {
        self.0.store(self.now().after(by).0, Ordering::SeqCst);
    }

    /// Sets it, also back, as an operator or a time server would.
    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_starts_with_the_machine_s_and_goes_on() {
        let (before, clock) = (SystemClock.now(), MonotonicClock::default());
        let (first, second) = (clock.now(), clock.now());
        assert!(first >= before && second >= first);
        assert!(second.since(before) < Duration::from_secs(60), "they differ by {:?}", second.since(before));
    }
}

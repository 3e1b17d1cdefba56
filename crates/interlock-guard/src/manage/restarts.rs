//! When a server that ended is started again, and when no more.

use std::time::Duration;

use interlock_sync::retry::{Delays, Dice, Retry};
use tokio::time::Instant;

/// How a server that ended is started again: pauses that double and are spread by chance, and a number of failures in a row after which a
/// required one is given up.
#[derive(Debug, Clone)]
pub struct Restarts {
    /// The longest first pause; each later one is twice as long.
    pub first: Duration,
    /// No pause is longer.
    pub cap: Duration,
    /// A server that ran for so long has recovered: the next pause is a first one again.
    pub steady: Duration,
    /// So many failures in a row are one too many.
    pub most: u32,
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            cap: Duration::from_secs(30),
            steady: Duration::from_secs(60),
            most: 10,
        }
    }
}

/// The failures of one server so far.
pub(super) struct Row {
    policy: Restarts,
    pauses: Delays<Dice>,
    failures: u32,
    up_since: Option<Instant>,
}

impl Row {
    pub(super) fn new(policy: &Restarts) -> Self {
        Self { policy: policy.clone(), pauses: pauses(policy), failures: 0, up_since: None }
    }

    /// It runs.
    pub(super) fn is_up(&mut self) {
        self.up_since = Some(Instant::now());
    }

    /// It ended, or did not start: how long to wait before the next start. `None` if that is one failure too many.
    pub(super) fn failed(&mut self) -> Option<Duration> {
        if self.up_since.take().is_some_and(|since| since.elapsed() >= self.policy.steady) {
            self.failures = 0;
            self.pauses = pauses(&self.policy);
        }
        self.failures = self.failures.saturating_add(1);
        let pause = self.pauses.next().unwrap_or(self.policy.cap);
        (self.failures < self.policy.most).then_some(pause)
    }

    /// How often in a row.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// The pause of a server that is never given up.
    pub(super) fn cap(&self) -> Duration {
        self.policy.cap
    }
}

fn pauses(policy: &Restarts) -> Delays<Dice> {
    Retry::times(u32::MAX).first(policy.first).cap(policy.cap).delays(Dice::fresh())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn failures_in_a_row_are_bounded_and_a_long_run_forgives_them() {
        let policy = Restarts { first: SECOND, cap: SECOND * 4, steady: SECOND * 60, most: 3 };
        let mut row = Row::new(&policy);
        assert!(row.failed().is_some_and(|pause| pause <= SECOND));
        row.is_up();
        tokio::time::advance(SECOND * 59).await;
        assert!(row.failed().is_some_and(|pause| pause <= SECOND * 2));
        row.is_up();
        tokio::time::advance(SECOND * 60).await;
        assert!(row.failed().is_some_and(|pause| pause <= SECOND));
        assert!(row.failed().is_some());
        assert_eq!((row.failed(), row.failures()), (None, 3));
    }
}

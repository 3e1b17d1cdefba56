//! Asking a store again and again for something that another process does, until it is done or the time is up.

use std::time::Duration;

use tokio::time::Instant;

use super::{Delays, Dice, Retry};

/// No two questions are closer together, however the dice fall.
const LEAST: Duration = Duration::from_millis(1);

/// Nobody waits longer. It keeps absurd times from overflowing.
const MOST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Questions with pauses between them, spread by jitter.
pub(crate) struct Polling {
    deadline: Instant,
    pauses: Delays<Dice>,
}

impl Polling {
    /// Questions for at most so long.
    pub(crate) fn within(wait: Duration) -> Self {
        let policy = Retry::times(u32::MAX).first(Duration::from_millis(10)).cap(Duration::from_millis(500));
        Self { deadline: Instant::now() + wait.min(MOST), pauses: policy.delays(Dice::fresh()) }
    }

    /// Questions for at most so long, close to each other: for whoever is next.
    pub(crate) fn often(wait: Duration) -> Self {
        let policy = Retry::times(u32::MAX).first(Duration::from_millis(5)).cap(Duration::from_millis(50));
        Self { deadline: Instant::now() + wait.min(MOST), pauses: policy.delays(Dice::fresh()) }
    }

    /// When the time is up.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits before the next question, at most for what the last answer said; `false`, at once, if the time is up.
    pub(crate) async fn pause(&mut self, at_most: Duration) -> bool {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let pause = self.pauses.next().unwrap_or(left);
        tokio::time::sleep(pause.min(at_most).max(LEAST).min(left)).await;
        true
    }
}

//! What happened in the last five minutes, second by second, so that a page that is opened now shows what was before.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError, atomic::Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;

use super::super::tally::Sum;

/// How many seconds are remembered.
const SECONDS: usize = 300;

/// The last five minutes.
#[derive(Debug, Default)]
pub(in crate::ops) struct Ring(Mutex<Past>);

#[derive(Debug, Default)]
struct Past {
    samples: VecDeque<Sample>,
    arrived: u64,
    refused: u64,
}

/// One second: when it ended, in ms since 1970, and what happened in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::ops) struct Sample {
    /// When.
    pub(in crate::ops) at: u64,
    /// Calls a second.
    pub(in crate::ops) calls: f64,
    /// Refusals a second.
    pub(in crate::ops) refused: f64,
    /// The most calls that ran at once.
    pub(in crate::ops) in_flight: u64,
    /// The most that waited at once.
    pub(in crate::ops) waiting: u64,
}

impl Ring {
    /// Takes a sample of what was counted since the last one, `passed` ago.
    pub(in crate::ops) fn sample(&self, sum: &Sum, now: SystemTime, passed: Duration) {
        let (arrived, refused) = (sum.arrived.load(Ordering::Relaxed), sum.refused.load(Ordering::Relaxed));
        let mut past = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = passed.as_secs_f64().max(0.001);
        let rate =
            |now: u64, before: u64| (now.saturating_sub(before) as f64 / seconds * 10.0).round() / 10.0;
        let sample = Sample {
            at: u64::try_from(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis())
                .unwrap_or(u64::MAX),
            calls: rate(arrived, past.arrived),
            refused: rate(refused, past.refused),
            in_flight: sum.in_flight.take_peak(),
            waiting: sum.waiting.take_peak(),
        };
        (past.arrived, past.refused) = (arrived, refused);
        if past.samples.len() >= SECONDS {
            past.samples.pop_front();
        }
        past.samples.push_back(sample);
    }

    /// All samples, oldest first.
    pub(in crate::ops) fn read(&self) -> Vec<Sample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).samples.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_shorter_than_a_second_is_seen_and_the_past_has_an_end() {
        let (ring, sum) = (Ring::default(), Sum::default());
        let second = Duration::from_secs(1);
        sum.arrived.fetch_add(3, Ordering::Relaxed);
        sum.in_flight.up();
        sum.in_flight.up();
        sum.in_flight.down();
        ring.sample(&sum, UNIX_EPOCH + second, second);
        sum.in_flight.down();
        ring.sample(&sum, UNIX_EPOCH + 2 * second, second);
        ring.sample(&sum, UNIX_EPOCH + 3 * second, second);
        let seen: Vec<_> =
            ring.read().iter().map(|sample| (sample.at, sample.calls, sample.in_flight)).collect();
        assert_eq!(seen, [(1000, 3.0, 2), (2000, 0.0, 1), (3000, 0.0, 0)]);
        for _ in 0..1000 {
            ring.sample(&sum, UNIX_EPOCH, second);
        }
        assert_eq!(ring.read().len(), SECONDS);
    }
}

//! Whether a quota has room.

use std::{collections::VecDeque, time::Duration};

use crate::store::{Quota, Taken, Timestamp};

/// What is stored of a quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateRow {
    /// A bucket: the moment at which it would be full again.
    Bucket(Timestamp),
    /// A log: the moments of the grants, oldest first.
    Log(VecDeque<Timestamp>),
}

impl RateRow {
    /// When the row says nothing any more, and may be forgotten.
    #[must_use]
    pub fn idle_from(&self, quota: &Quota) -> Timestamp {
        match (self, quota) {
            (Self::Bucket(full), _) => *full,
            (Self::Log(grants), Quota::Log { window, .. }) => {
                grants.back().map_or(Timestamp(0), |last| last.after(*window))
            }
            (Self::Log(_), Quota::Bucket { .. }) => Timestamp(0),
        }
    }
}

/// Takes `cost` from a quota, or nothing. The row is what to store; `None` leaves it as it is. A row of the other kind of quota is
/// taken as none: the quota was changed.
#[must_use]
pub fn take(row: Option<RateRow>, quota: &Quota, cost: u32, now: Timestamp) -> (Taken, Option<RateRow>) {
    match Rule::of(quota) {
        Rule::Bucket(rule) => {
            let full = match row {
                Some(RateRow::Bucket(full)) => full,
                _ => now,
            };
            let (taken, full) = rule.take(full, cost, now);
            (taken, full.map(RateRow::Bucket))
        }
        Rule::Log(rule) => {
            let mut grants = match row {
                Some(RateRow::Log(grants)) => grants,
                _ => VecDeque::new(),
            };
            let taken = rule.take(&mut grants, cost, now);
            (taken, (cost <= rule.limit).then_some(RateRow::Log(grants)))
        }
    }
}

/// How long one more has to wait; `None` if it would be granted now. Says what [`take`] would, and changes nothing.
#[must_use]
pub fn wait(row: Option<&RateRow>, quota: &Quota, now: Timestamp) -> Option<Duration> {
    match (Rule::of(quota), row) {
        (Rule::Bucket(rule), Some(RateRow::Bucket(full))) => match rule.take(*full, 1, now).0 {
            Taken::Granted { .. } => None,
            Taken::Refused { retry_after } => Some(retry_after.unwrap_or(Duration::MAX)),
        },
        (Rule::Log(rule), Some(RateRow::Log(grants))) => rule.wait(grants, now),
        _ => None,
    }
}

/// A quota, reckoned out once, so that taking from it is a handful of additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A token bucket.
    Bucket(BucketRule),
    /// A log of the grants.
    Log(LogRule),
}

/// The token bucket of [`Quota::Bucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketRule {
    interval: u64,
    capacity: u64,
    burst: u32,
}

/// The log of [`Quota::Log`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRule {
    limit: u32,
    window: Duration,
}

impl Rule {
    /// Reckons a quota out.
    #[must_use]
    pub fn of(quota: &Quota) -> Self {
        match *quota {
            Quota::Bucket { burst, .. } => {
                let interval = quota.interval_micros();
                let capacity = interval.saturating_mul(u64::from(burst.get()));
                Self::Bucket(BucketRule { interval, capacity, burst: burst.get() })
            }
            Quota::Log { limit, window } => Self::Log(LogRule { limit: limit.get(), window }),
        }
    }
}

impl BucketRule {
    /// GCRA: the bucket is one moment, `full`, at which it would be full again if nothing more were taken. The moment is what to store;
    /// `None` leaves it as it is.
    #[must_use]
    #[inline]
    pub fn take(&self, full: Timestamp, cost: u32, now: Timestamp) -> (Taken, Option<Timestamp>) {
        let Self { interval, capacity, burst } = *self;
        if cost > burst {
            return (Taken::Refused { retry_after: None }, None);
        }
        // A bucket is never emptier than empty: a moment further off comes from a clock that was set back, and is corrected also by a
        // refusal, so that the caller is not locked out until the old time comes again.
        let owed = full.0.saturating_sub(now.0).min(capacity);
        let wanted = owed.saturating_add(interval.saturating_mul(u64::from(cost)));
        if wanted > capacity {
            let corrected = self.is_beyond(full, now).then(|| Timestamp(now.0.saturating_add(capacity)));
            return (
                Taken::Refused { retry_after: Some(Duration::from_micros(wanted - capacity)) },
                corrected,
            );
        }
        let remaining = u32::try_from((capacity - wanted) / interval).unwrap_or(u32::MAX);
        (Taken::Granted { remaining }, Some(Timestamp(now.0.saturating_add(wanted))))
    }

    /// Whether the moment is further off than an empty bucket's could be by this clock.
    #[must_use]
    #[inline]
    pub fn is_beyond(&self, full: Timestamp, now: Timestamp) -> bool {
        full.0.saturating_sub(now.0) > self.capacity
    }
}

impl LogRule {
    /// Takes from a log, whose grants are in order, oldest first. What has left the window is removed from it.
    #[must_use]
    pub fn take(&self, grants: &mut VecDeque<Timestamp>, cost: u32, now: Timestamp) -> Taken {
        let Self { limit, window } = *self;
        if cost > limit {
            return Taken::Refused { retry_after: None };
        }
        // A grant from the future comes from a clock that was set back: it counts as if it had been made now.
        grants.iter_mut().rev().take_while(|grant| **grant > now).for_each(|grant| *grant = now);
        while grants.front().is_some_and(|oldest| oldest.after(window) <= now) {
            grants.pop_front();
        }
        let used = u32::try_from(grants.len()).unwrap_or(u32::MAX);
        let excess = (used.saturating_add(cost)).saturating_sub(limit);
        if excess > 0 {
            // Room is there once as many of the oldest grants have left the window as there are too many now.
            let leaves = grants.get(excess as usize - 1).map_or(now, |grant| grant.after(window));
            return Taken::Refused { retry_after: Some(leaves.since(now)) };
        }
        grants.extend(std::iter::repeat_n(now, cost as usize));
        Taken::Granted { remaining: limit - used - cost }
    }

    /// How long one more has to wait for a log whose grants are in order, oldest first; `None` if it need not.
    fn wait(&self, grants: &VecDeque<Timestamp>, now: Timestamp) -> Option<Duration> {
        let leaves = |grant: &Timestamp| (*grant).min(now).after(self.window);
        let gone = grants.partition_point(|grant| leaves(grant) <= now);
        let excess =
            (grants.len() - gone + 1).checked_sub(self.limit as usize).filter(|excess| *excess > 0)?;
        grants.get(gone + excess - 1).map(|grant| leaves(grant).since(now))
    }

    /// When a log whose last grant was at this moment says nothing any more.
    #[must_use]
    pub fn idle_from(&self, last: Timestamp) -> Timestamp {
        last.after(self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const START: Timestamp = Timestamp(1_000_000_000);

    /// A limiter whose clock the test holds.
    struct Limiter(Quota, Option<RateRow>);

    impl Limiter {
        fn take(&mut self, cost: u32, now: Timestamp) -> Taken {
            let (taken, row) = take(self.1.clone(), &self.0, cost, now);
            self.1 = row.or(self.1.take());
            taken
        }

        fn granted_between(&mut self, from: Timestamp, to: Timestamp, step: Duration) -> u32 {
            let moments =
                std::iter::successors(Some(from), |at| Some(at.after(step)).filter(|next| *next < to));
            moments.map(|at| u32::from(matches!(self.take(1, at), Taken::Granted { .. }))).sum()
        }
    }

    #[test]
    fn a_bucket_grants_its_burst_and_then_its_rate() {
        let mut bucket = Limiter(Quota::bucket(10, SECOND).unwrap(), None);
        assert_eq!(bucket.granted_between(START, START.after(SECOND / 1000), Duration::from_micros(10)), 10);
        assert_eq!(bucket.take(1, START), Taken::Refused { retry_after: Some(SECOND / 10) });
        let later = START.after(SECOND / 10);
        assert_eq!(bucket.take(1, later), Taken::Granted { remaining: 0 });
        assert!(bucket.granted_between(later, later.after(SECOND * 5), Duration::from_millis(1)) <= 50);
    }

    #[test]
    fn a_log_grants_exactly_its_limit_in_any_window_also_across_the_edge_of_one() {
        let mut log = Limiter(Quota::log(10, SECOND).unwrap(), None);
        let near_the_end = START.after(SECOND * 9 / 10);
        assert_eq!(
            log.granted_between(near_the_end, near_the_end.after(SECOND), Duration::from_millis(7)),
            10
        );
        let mut other = Limiter(Quota::log(2, SECOND).unwrap(), None);
        assert_eq!(other.take(1, START), Taken::Granted { remaining: 1 });
        assert_eq!(other.take(1, START.after(SECOND / 2)), Taken::Granted { remaining: 0 });
        assert_eq!(
            other.take(1, START.after(SECOND * 3 / 4)),
            Taken::Refused { retry_after: Some(SECOND / 4) }
        );
        assert_eq!(other.take(1, START.after(SECOND)), Taken::Granted { remaining: 0 });
    }

    #[test]
    fn the_time_in_a_refusal_is_the_time_after_which_it_is_granted() {
        for quota in [Quota::bucket(7, SECOND).unwrap(), Quota::log(7, SECOND).unwrap()] {
            let mut limiter = Limiter(quota, None);
            assert_eq!(limiter.take(7, START), Taken::Granted { remaining: 0 });
            let Taken::Refused { retry_after: Some(wait) } = limiter.take(3, START) else {
                panic!("it is full")
            };
            let early = START.after(wait - Duration::from_micros(1));
            assert!(matches!(limiter.take(3, early), Taken::Refused { .. }), "{quota:?}");
            assert!(matches!(limiter.take(3, START.after(wait)), Taken::Granted { .. }), "{quota:?}");
        }
    }

    #[test]
    fn more_than_the_whole_quota_is_never_granted_and_says_so() {
        for quota in [Quota::bucket(3, SECOND).unwrap(), Quota::log(3, SECOND).unwrap()] {
            assert_eq!(Limiter(quota, None).take(4, START), Taken::Refused { retry_after: None });
        }
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_lock_callers_out() {
        for quota in [Quota::bucket(3, SECOND).unwrap(), Quota::log(3, SECOND).unwrap()] {
            let mut limiter = Limiter(quota, None);
            assert!(matches!(limiter.take(3, START.after(SECOND * 3600)), Taken::Granted { .. }));
            let Taken::Refused { retry_after: Some(wait) } = limiter.take(1, START) else {
                panic!("it is full")
            };
            assert!(wait <= SECOND, "{quota:?} says {wait:?}");
            assert!(
                matches!(limiter.take(1, START.after(wait)), Taken::Granted { .. }),
                "{quota:?} keeps its word"
            );
        }
    }
}

//! Quotas: how often, and what the bound really is.

use std::{num::NonZeroU32, time::Duration};

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quota {
    /// A token bucket, kept as one time stamp (GCRA): `burst` at once, then `count` per `period`, evenly. In any window of length w at
    /// most `burst + count × w / period` are granted.
    Bucket {
        /// How many per period.
        count: NonZeroU32,
        /// The period.
        period: Duration,
        /// How many at once.
        burst: NonZeroU32,
    },
    /// A log of the grants: exactly `limit` in any `window`, at the price of remembering each.
    Log {
        /// How many.
        limit: NonZeroU32,
        /// In which time.
        window: Duration,
    },
}

/// Why numbers make no quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidQuota {
    /// Nothing could ever be granted.
    #[error("a quota must allow at least one")]
    Zero,
    /// The period must be long enough for the store's clock, and short enough to be told from for ever.
    #[error("a quota's period must lie between a microsecond per grant and a year")]
    Period,
}

/// What became of an attempt to take from a [`Quota`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was counted.
    Granted {
        /// How many more would be granted at this moment.
        remaining: u32,
    },
    /// It was not.
    Refused {
        /// When the same attempt would be granted if nobody else comes; `None` if it never can, because it asks for more than the whole
        /// quota.
        retry_after: Option<Duration>,
    },
}

/// A call came too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too often{}", match retry_after { Some(wait) => format!(": try again in {wait:?}"), None => String::new() })]
pub struct TooOften {
    /// When the same attempt would be granted if nobody else comes; `None` if it never can.
    pub retry_after: Option<Duration>,
}

impl Taken {
    /// As a result, for `?`: how many more would be granted at this moment.
    ///
    /// # Errors
    ///
    /// When it was not granted.
    pub fn into_result(self) -> Result<u32, TooOften> {
        match self {
            Self::Granted { remaining } => Ok(remaining),
            Self::Refused { retry_after } => Err(TooOften { retry_after }),
        }
    }
}

const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

impl Quota {
    /// `count` per `period`, all of them at once if they have been saved up.
    ///
    /// # Errors
    ///
    /// When it allows nothing, or the period is out of range.
    pub fn bucket(count: u32, period: Duration) -> Result<Self, InvalidQuota> {
        let count = NonZeroU32::new(count).ok_or(InvalidQuota::Zero)?;
        Self::Bucket { count, period, burst: count }.checked()
    }

    /// Exactly `limit` in any `window`.
    ///
    /// # Errors
    ///
    /// When it allows nothing, or the window is out of range.
    pub fn log(limit: u32, window: Duration) -> Result<Self, InvalidQuota> {
        let limit = NonZeroU32::new(limit).ok_or(InvalidQuota::Zero)?;
        Self::Log { limit, window }.checked()
    }

    /// The same with another burst; a log has none.
    #[must_use]
    pub fn with_burst(self, most: NonZeroU32) -> Self {
        match self {
            Self::Bucket { count, period, .. } => Self::Bucket { count, period, burst: most },
            log @ Self::Log { .. } => log,
        }
    }

    /// The time that one grant of a bucket stands for, in µs; at least one.
    #[must_use]
    pub fn interval_micros(&self) -> u64 {
        match self {
            Self::Bucket { count, period, .. } => micros(*period).div_ceil(u64::from(count.get())).max(1),
            Self::Log { .. } => 0,
        }
    }

    fn checked(self) -> Result<Self, InvalidQuota> {
        let (least, period) = match self {
            Self::Bucket { count, period, .. } => (Duration::from_micros(u64::from(count.get())), period),
            Self::Log { window, .. } => (Duration::from_micros(1), window),
        };
        if (least..=YEAR).contains(&period) { Ok(self) } else { Err(InvalidQuota::Period) }
    }
}

/// A duration in µs. A year fits well.
#[must_use]
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_must_allow_something_in_a_time_that_a_store_can_measure() {
        let second = Duration::from_secs(1);
        assert_eq!(Quota::bucket(0, second), Err(InvalidQuota::Zero));
        assert_eq!(Quota::log(0, second), Err(InvalidQuota::Zero));
        assert_eq!(Quota::bucket(1_000_001, second), Err(InvalidQuota::Period));
        assert_eq!(Quota::log(1, Duration::ZERO), Err(InvalidQuota::Period));
        assert_eq!(Quota::bucket(1, Duration::MAX), Err(InvalidQuota::Period));
        assert_eq!(Quota::bucket(60, second * 60).unwrap().interval_micros(), 1_000_000);
    }

    #[test]
    fn an_interval_is_rounded_up_so_that_the_bound_holds() {
        assert_eq!(Quota::bucket(3, Duration::from_micros(10)).unwrap().interval_micros(), 4);
    }
}

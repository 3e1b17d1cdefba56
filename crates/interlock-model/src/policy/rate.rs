//! A rate as people write it: `60/min`.

use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZeroU32, str::FromStr, time::Duration};

/// So many calls per unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rate {
    /// How many.
    pub count: NonZeroU32,
    /// In which time.
    pub per: Per,
}

/// The unit of a [`Rate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Per {
    /// A second, `s`.
    Second,
    /// A minute, `min`.
    Minute,
    /// An hour, `h`.
    Hour,
    /// A day, `d`.
    Day,
}

/// Why a text is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate: a count from 1 on and a unit out of s, min, h, d, such as `60/min`")]
pub struct InvalidRate(String);

impl Per {
    const ALL: [(Self, &'static str, u64); 4] = [
        (Self::Second, "s", 1),
        (Self::Minute, "min", 60),
        (Self::Hour, "h", 3_600),
        (Self::Day, "d", 86_400),
    ];

    /// How long the unit is.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.row().2)
    }

    fn row(self) -> (Self, &'static str, u64) {
        Self::ALL.into_iter().find(|row| row.0 == self).unwrap_or(Self::ALL[0])
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(count, unit)| {
            let (per, ..) = Per::ALL.into_iter().find(|row| row.1 == unit)?;
            Some(Self { count: count.parse().ok()?, per })
        });
        parsed.ok_or_else(|| InvalidRate(text.to_owned()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.per.row().1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_reads_back_as_it_was_written() {
        for text in ["1/s", "60/min", "100/h", "4294967295/d"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("60/min".parse::<Rate>().unwrap().per.duration(), Duration::from_secs(60));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in ["", "60", "60/", "/min", "0/s", "-1/s", "1.5/s", "60/minute", "4294967296/d", "60/min/s"]
        {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate(text.to_owned())));
        }
    }
}

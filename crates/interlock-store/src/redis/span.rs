//! Durations as the scripts take them.

use std::time::Duration;

/// The longest time that is told from for ever: some 126 years. Together with the time of day it stays below 2^53 µs, which is what a
/// script's numbers hold exactly.
const LONGEST: Duration = Duration::from_micros(4_000_000_000_000_000);

/// A duration in µs.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.min(LONGEST).as_micros()).unwrap_or(u64::MAX)
}

/// A duration in ms, rounded up, and never so short that the server would call it invalid.
pub(super) fn millis(duration: Duration) -> u64 {
    micros(duration).div_ceil(1000).max(1)
}

#[cfg(test)]
mod tests {
    use interlock_sync::decide::REMEMBER_FENCE;

    use super::*;

    #[test]
    fn a_duration_is_never_cut_short_and_never_more_than_a_script_can_hold() {
        assert_eq!(micros(Duration::from_nanos(1_999)), 1);
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::ZERO), 1);
        assert_eq!(millis(Duration::from_micros(1_001)), 2);
        let new_year_2100 = 4_102_444_800_000_000;
        assert!(new_year_2100 + micros(Duration::MAX) + micros(REMEMBER_FENCE) < 1 << 53);
    }
}

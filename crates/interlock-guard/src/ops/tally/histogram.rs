//! A histogram of durations.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The upper ends of the buckets, in µs, and as they are written.
pub(super) const BUCKETS: [(u64, &str); 15] = [
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
    (60_000_000, "60"),
];

/// How many durations fell into which bucket.
#[derive(Debug, Default)]
pub(in crate::ops) struct Histogram {
    /// The last one is for what is longer than all.
    counts: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
}

impl Histogram {
    /// Counts one.
    pub(in crate::ops) fn add(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.partition_point(|(end, _)| *end < micros);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// For each bucket how many were at most that long, then all; and the sum in µs.
    pub(super) fn read(&self) -> ([u64; BUCKETS.len() + 1], u64) {
        let mut so_far = 0;
        let counts = std::array::from_fn(|bucket| {
            so_far += self.counts.get(bucket).map_or(0, |count| count.load(Ordering::Relaxed));
            so_far
        });
        (counts, self.micros.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_up_to_the_bucket_that_it_just_fills() {
        let histogram = Histogram::default();
        histogram.add(Duration::ZERO);
        histogram.add(Duration::from_micros(1_000));
        histogram.add(Duration::from_micros(1_001));
        histogram.add(Duration::from_secs(3600));
        let (counts, micros) = histogram.read();
        assert_eq!(&counts[..3], [2, 3, 3]);
        assert_eq!(&counts[13..], [3, 3, 4]);
        assert_eq!(micros, 3_600_002_001);
    }
}

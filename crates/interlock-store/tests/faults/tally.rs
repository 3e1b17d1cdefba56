//! What was injected, and what held.

use std::{collections::BTreeMap, fmt, io::Write};

/// Counts by name, in the order of the names.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    pub(crate) fn add(&mut self, what: &'static str, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(what, times)| self.add(what, *times));
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (what, times)) in self.0.iter().enumerate() {
            write!(f, "{}{times} {what}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Says something past the test harness, which keeps what a test prints.
#[expect(clippy::disallowed_methods, reason = "every run says how many faults it injected")]
pub(crate) fn say(text: &str) {
    // Whoever does not listen misses it.
    let _ = writeln!(std::io::stderr(), "{text}");
}

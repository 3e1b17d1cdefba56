//! What happened, in numbers for Prometheus.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// Counts since the process started.
#[derive(Debug, Default)]
pub struct Tally {
    /// Audits that were asked for and queued.
    pub queued: AtomicU64,
    /// Audits that this process began.
    pub begun: AtomicU64,
    /// Of those, audits that another worker had begun before.
    pub taken_over: AtomicU64,
    /// Audits that this process ended with a report.
    pub reported: AtomicU64,
    /// Audits that this process ended without one.
    pub failed: AtomicU64,
    /// Audits that this process had to leave to another.
    pub lost: AtomicU64,
    /// Audits that this process works on.
    pub running: AtomicU64,
    /// Requests that were answered.
    pub requests: AtomicU64,
    /// Requests that were refused for their host, origin or token.
    pub denied: AtomicU64,
    /// Audits that were refused because the caller asked too often or has too many under way.
    pub limited: AtomicU64,
    /// Audits that were refused for what they name.
    pub refused: AtomicU64,
}

impl Tally {
    /// Adds one.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The numbers, as Prometheus reads them; `waiting` is how many audits have not ended.
    #[must_use]
    pub fn expose(&self, waiting: usize) -> String {
        let mut out = String::new();
        let counters = [
            ("audits_queued_total", "Audits that were asked for and queued.", &self.queued),
            ("audits_begun_total", "Audits that this process began.", &self.begun),
            ("audits_taken_over_total", "Audits that another worker had begun before.", &self.taken_over),
            ("audits_reported_total", "Audits that ended with a report.", &self.reported),
            ("audits_failed_total", "Audits that ended without a report.", &self.failed),
            ("audits_lost_total", "Audits that were left to another worker.", &self.lost),
            ("requests_total", "Requests that were answered.", &self.requests),
            ("requests_denied_total", "Requests refused for their host, origin or token.", &self.denied),
            ("audits_limited_total", "Audits refused because of the caller's limits.", &self.limited),
            ("audits_refused_total", "Audits refused for what they name.", &self.refused),
        ];
        for (name, help, counter) in counters {
            let value = counter.load(Ordering::Relaxed);
            let _ = write!(
                out,
                "# HELP interlock_serve_{name} {help}\n# TYPE interlock_serve_{name} counter\ninterlock_serve_{name} {value}\n"
            );
        }
        let running = self.running.load(Ordering::Relaxed);
        let gauges = [
            ("audits_running", "Audits that this process works on.", running),
            ("audits_waiting", "Audits that have not ended, up to 1000.", waiting as u64),
        ];
        for (name, help, value) in gauges {
            let _ = write!(
                out,
                "# HELP interlock_serve_{name} {help}\n# TYPE interlock_serve_{name} gauge\ninterlock_serve_{name} {value}\n"
            );
        }
        out
    }
}

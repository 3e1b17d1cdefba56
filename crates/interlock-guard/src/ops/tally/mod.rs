//! Counters and histograms. A tool's are found once per call and then only added to; names from outside cannot make more of them than
//! there is room for.

mod expose;
mod histogram;
mod names;
mod process;
mod tools;
mod upstreams;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

pub(super) use self::{
    expose::expose,
    names::{Reason, Reasons},
    process::Process,
    tools::{Tool, Tools},
    upstreams::{Upstreams, state_name},
};

/// Everything that is counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By tool.
    pub(super) tools: Tools,
    /// Names of reasons, as small numbers.
    pub(super) reasons: Reasons,
    /// By upstream.
    pub(super) upstreams: Upstreams,
    /// Messages that are no tool calls and were refused.
    pub(super) refused_messages: AtomicU64,
    /// Requests that were turned away by their head, by the reason's word.
    pub(super) turned_away: Mutex<BTreeMap<&'static str, u64>>,
    /// How often the store could not be asked.
    pub(super) store_errors: AtomicU64,
    /// The number of the policy.
    pub(super) generation: AtomicU64,
    /// How often it was replaced.
    pub(super) reloads: AtomicU64,
    /// Whether the guard is closing.
    pub(super) is_closing: AtomicBool,
    /// What all tools come to, for the plot: nobody wants to add up hundreds of rows every second.
    pub(super) sum: Sum,
}

/// All tools together.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// Calls that came.
    pub(super) arrived: AtomicU64,
    /// Calls that were refused.
    pub(super) refused: AtomicU64,
    /// Calls that run.
    pub(super) in_flight: Peak,
    /// Calls that wait.
    pub(super) waiting: Peak,
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(super) struct Gauge(AtomicU64);

/// A number that goes up and down, and how far it went.
#[derive(Debug, Default)]
pub(super) struct Peak {
    now: Gauge,
    most: AtomicU64,
}

/// What is counted by somebody else and only told here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dropped {
    /// Lines of the audit log.
    pub(super) audit: u64,
    /// Lines of the log.
    pub(super) log: u64,
    /// Spans.
    pub(super) spans: u64,
}

impl Gauge {
    /// One more; says how many there are now.
    pub(super) fn up(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// One less.
    pub(super) fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many. The order of two that happen at once may be seen the wrong way round, so that for a moment it looks like less than none.
    pub(super) fn get(&self) -> u64 {
        let now = self.0.load(Ordering::Relaxed);
        if now > u64::MAX / 2 { 0 } else { now }
    }
}

impl Peak {
    /// One more.
    pub(super) fn up(&self) {
        self.most.fetch_max(self.now.up(), Ordering::Relaxed);
    }

    /// One less.
    pub(super) fn down(&self) {
        self.now.down();
    }

    /// How many.
    pub(super) fn get(&self) -> u64 {
        self.now.get()
    }

    /// The most there were since this was asked last.
    pub(super) fn take_peak(&self) -> u64 {
        let now = self.get();
        self.most.swap(now, Ordering::Relaxed).max(now)
    }
}

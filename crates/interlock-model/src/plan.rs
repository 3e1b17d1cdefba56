//! Calls that are to meet, as data: what `probe.rs` and plan files say, and what a replay saves.

use std::time::Duration;

use serde_json::Value;

use crate::HazardId;

/// Calls that run together, how the server gets there, and how it is looked at afterwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallSet {
    /// For people: `create_entities + create_entities`.
    pub name: String,
    /// The hazard it is after, where somebody said so; once it is proven, the one that the outcome shows, where that can be told.
    pub hazard: Option<HazardId>,
    /// Run one after another on the fresh instance.
    pub setup: Vec<PlannedCall>,
    /// Run together.
    pub calls: Vec<PlannedCall>,
    /// Run one after another when all calls are over: what the state has become.
    pub reads: Vec<PlannedCall>,
    /// What else happens while the calls are under way.
    pub fault: Fault,
    /// What the outcome is held against.
    pub oracle: Oracle,
    /// Expressions that must be true of every outcome, serial or not.
    pub invariants: Vec<String>,
}

/// One call of a [`CallSet`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlannedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments; `{scratch}` inside a text is the instance's own folder, `{answer:0/id}` what the first call of the set-up
    /// [answered](crate::reference).
    pub arguments: Value,
    /// Its `_meta`; `Null` for none.
    pub meta: Value,
}

/// What happens to the server, or to its answers, while the calls of a set are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The process is killed so long after the calls were sent, and started again on the same folder before the reads.
    Kill {
        /// After the last byte was sent.
        after: Duration,
    },
    /// The client goes: its side is closed, as at the end of a conversation; then as after a kill.
    Close {
        /// After the last byte was sent.
        after: Duration,
    },
}

/// What an outcome is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Oracle {
    /// The same calls in every order, and in every order of every subset.
    #[default]
    Serial,
    /// At most as many calls may succeed as do one after another: for limits that need more than four calls.
    NoMoreThanSerial,
    /// All calls are copies of one request that was sent again: together they must do what one does.
    Once,
    /// Somebody has to be refused: for a server that should bound what one caller has under way.
    SomeRefused,
}

/// How the calls of a set are made to meet: all that a replay needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// How the requests reach the server.
    pub delivery: Delivery,
    /// How long after the first each request is sent; missing ones are zero.
    pub offsets: Vec<Duration>,
    /// What is done to the server meanwhile.
    pub perturbation: Perturbation,
}

/// How requests reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Delivery {
    /// All frames in one write: one pipe, or one connection with the requests behind each other.
    #[default]
    OneWrite,
    /// A connection for each call, open beforehand, whole requests sent at the same time.
    Connections,
    /// As `Connections`, with all but the last byte of each request sent before.
    LastBytes,
    /// HTTP/2 streams whose last frames leave in one write.
    Http2,
}

/// What is done to the server while calls are under way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Perturbation {
    /// Nothing.
    #[default]
    None,
    /// File operations take longer, as a busy disk makes them.
    SlowFiles {
        /// Which operations are slowed, and how much, follows from it.
        seed: u64,
    },
    /// Python's threads are switched more often, at other places.
    PythonSwitches {
        /// Where follows from it.
        seed: u64,
    },
    /// Node's asynchronous operations are let go in a given order: at each choice, the number of the operation that goes.
    NodeOrder {
        /// One number for each choice; beyond the end, the first goes.
        choices: Vec<usize>,
    },
    /// Whoever comes by these lines goes on later: an operation that was begun there is done later, or the whole process stands still.
    HeldWindow {
        /// The race windows that a scan names.
        windows: Vec<RaceWindow>,
    },
}

/// Lines of a source between what a call looks at and what it does about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceWindow {
    /// The file, relative to what was scanned, with forward slashes.
    pub file: String,
    /// The first line, counted from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Delivery {
    /// Its name in reports and replays.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneWrite => "one-write",
            Self::Connections => "connections",
            Self::LastBytes => "last-bytes",
            Self::Http2 => "http2",
        }
    }
}

impl Perturbation {
    /// Its name in reports and replays.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SlowFiles { .. } => "slow-files",
            Self::PythonSwitches { .. } => "python-switches",
            Self::NodeOrder { .. } => "node-order",
            Self::HeldWindow { .. } => "held-window",
        }
    }
}

impl Schedule {
    /// What was done, in a few words: the techniques that [`Explored`](crate::Explored) lists.
    #[must_use]
    pub fn technique(&self) -> String {
        let mut words = vec![self.delivery.name()];
        if self.offsets.iter().any(|offset| !offset.is_zero()) {
            words.push("offsets");
        }
        if self.perturbation != Perturbation::None {
            words.push(self.perturbation.name());
        }
        words.join(" + ")
    }
}

impl PlannedCall {
    /// A call with arguments and nothing else.
    #[must_use]
    pub fn new(tool: &str, arguments: Value) -> Self {
        Self { tool: tool.to_owned(), arguments, meta: Value::Null }
    }
}

//! A server as its callers see it: the tools, with calls that are known to work and what shows their effect.
//!
//! A hazard's `probe.rs` picks from it the calls that should meet.

use std::time::Duration;

use crate::PlannedCall;

/// The tools of a server, in the order it lists them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// The tools that may be called.
    pub tools: Vec<ToolSurface>,
    /// Whether it is reached over a network, so that others can call it at the same time.
    pub networked: bool,
    /// How many equal calls one after another succeed before one is refused; `None` where no refusal was seen.
    pub limit: Option<usize>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSurface {
    /// Its name.
    pub name: String,
    /// Whether it says of itself that it only reads.
    pub read_only: Option<bool>,
    /// Whether it says of itself that it may destroy.
    pub destructive: Option<bool>,
    /// Whether it says of itself that doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// What happens when it is called: told from a fresh instance, before and after.
    pub effect: Effectful,
    /// Calls that succeed on a fresh instance after [`setup`](Self::setup). They speak of the same thing where the arguments
    /// name one (the same id, the same path), and differ in what they say about it. At least one where the tool can be called.
    pub samples: Vec<PlannedCall>,
    /// Calls like the samples that speak of other things: what is lost when all things lie in one file.
    pub others: Vec<PlannedCall>,
    /// A call that succeeds, and is refused when it is made again: it takes or makes what there is only once.
    pub once: Option<PlannedCall>,
    /// The values in the samples that name the thing they speak of: ids, paths, names.
    pub things: Vec<String>,
    /// What must be called before, so that the samples succeed; usually nothing.
    pub setup: Vec<PlannedCall>,
    /// Reads whose answer changes when a sample is called: its read-backs.
    pub reads: Vec<PlannedCall>,
    /// How long a sample takes by itself; zero where it was not measured.
    pub took: Duration,
    /// Whether a scan has found the hazard in its code: then nothing about it has to be guessed from its name.
    pub found: bool,
    /// The argument that carries an idempotency key, if one is named like it.
    pub idempotency_argument: Option<String>,
}

/// Whether a tool changes what others read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effectful {
    /// A read-back changes.
    Writes,
    /// No read-back changes.
    Reads,
    /// It was not called, or nothing could be told.
    #[default]
    Unknown,
}

impl Surface {
    /// The tools that change something.
    pub fn writers(&self) -> impl Iterator<Item = &ToolSurface> {
        self.tools.iter().filter(|tool| tool.effect == Effectful::Writes && !tool.samples.is_empty())
    }

    /// The tools that only read.
    pub fn readers(&self) -> impl Iterator<Item = &ToolSurface> {
        self.tools.iter().filter(|tool| tool.effect == Effectful::Reads && !tool.samples.is_empty())
    }
}

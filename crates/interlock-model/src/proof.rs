//! What a proof came to: one verdict for the server, and for each set of calls what was seen and what would have been legal.

use std::time::Duration;

use serde_json::Value;

use crate::{CallSet, Confinement, Explored, History, PlannedCall, Schedule, Verdict};

/// All that `prove` has to say about a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ProofReport {
    /// The command or URL, as it was given.
    pub target: String,
    /// The worst of the sets; or unknown, where the sets that held are not what it is about.
    pub verdict: Verdict,
    /// Why the verdict is not that of the sets: only readers could be called, or not every writer was tried.
    pub reason: Option<String>,
    /// How many of the tools that write were tried; `None` where somebody said which calls to make.
    pub writers: Option<Writers>,
    /// How the server was kept apart, and what changed outside all the same.
    pub isolation: Confinement,
    /// One entry for each set of calls, in the order they were tried.
    pub sets: Vec<SetReport>,
    /// All together.
    pub explored: Explored,
    /// How long it took.
    pub took: Duration,
    /// What was left out and why: tools that were not called, techniques that do not apply.
    pub notes: Vec<String>,
    /// What was learnt of the arguments of the tools that write, where nobody said which calls to make.
    pub learnt: Vec<Learnt>,
}

/// What was learnt of one tool's arguments, so that somebody who knows better can correct it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Learnt {
    /// The tool.
    pub tool: String,
    /// Calls that were made before it worked.
    pub setup: Vec<PlannedCall>,
    /// The call that worked, if one did.
    pub works: Option<PlannedCall>,
    /// For each argument of that call, where its value comes from, in words.
    pub sources: Vec<(String, String)>,
    /// Calls that were refused, and in what words.
    pub refused: Vec<(PlannedCall, String)>,
}

/// How many of the tools that write met others, or themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writers {
    /// Those that did.
    pub tried: usize,
    /// Those that can be called, and those of which the time did not suffice to find out.
    pub known: usize,
}

/// What was seen of one set of calls.
#[derive(Debug, Clone, PartialEq)]
pub struct SetReport {
    /// The calls.
    pub set: CallSet,
    /// What may be said.
    pub verdict: Verdict,
    /// One sentence: what went wrong, or why nothing can be said, or what held.
    pub reason: String,
    /// How much was tried.
    pub explored: Explored,
    /// The illegal run, where there is one.
    pub evidence: Option<Evidence>,
}

/// An illegal run, and what it is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What happened, in time.
    pub history: History,
    /// How the calls were made to meet.
    pub schedule: Schedule,
    /// What came of it.
    pub observed: Outcome,
    /// What would have been legal, nearest to the observed one first.
    pub legal: Vec<LegalOutcome>,
    /// Invariants that the outcome breaks, as they were written.
    pub violated: Vec<String>,
    /// When the state that one call trusted had already been changed by another; where operations could be seen.
    pub stale: Option<StaleWindow>,
    /// In how many of how many further runs it happened again.
    pub again: (u32, u32),
    /// The file that shows it again.
    pub replay: Option<String>,
}

/// What a run comes to: every answer and what is read afterwards, without what varies from run to run anyway.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// One for each call of the set.
    pub answers: Vec<Seen>,
    /// One for each read of the set.
    pub reads: Vec<Seen>,
}

/// An answer without what varies from run to run.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Seen {
    /// The tool's result.
    Result(Value),
    /// A refusal or an error.
    Error(Value),
    /// No answer, or the call was not made in this order.
    #[default]
    Nothing,
}

/// An outcome that some order of the calls, one after another, leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct LegalOutcome {
    /// What it comes to.
    pub outcome: Outcome,
    /// The orders that lead there, as indexes into the calls of the set; a call that is not named was not made.
    pub orders: Vec<Vec<usize>>,
}

/// From the read that one call trusted to its write, with another's write in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaleWindow {
    /// The call, as an index into the calls of the set.
    pub call: usize,
    /// When it read.
    pub from: Duration,
    /// When it acted on what it had read.
    pub to: Duration,
}

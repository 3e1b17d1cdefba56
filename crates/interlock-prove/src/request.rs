//! What is asked of a proof.

use std::{sync::Arc, time::Duration};

use interlock_model::{CallSet, Fingerprint, ProofReport};

use crate::{
    isolate::Isolation,
    perturb::Perturb,
    plan::{from::Found, restraint::Restraint},
    target::{Patience, Target},
};

/// What to prove, and how much it may cost.
#[derive(Clone)]
pub struct Request {
    /// The server.
    pub target: Target,
    /// What to call.
    pub ask: Ask,
    /// How it is kept apart.
    pub isolation: Arc<Isolation>,
    /// Which calls are not made. It knows afterwards what the server was told, however the proof ended.
    pub restraint: Arc<Restraint>,
    /// What may be done to the server meanwhile: usually [`perturb::all`](crate::perturb::all).
    pub perturbations: Vec<Arc<dyn Perturb>>,
    /// How long to look, and how many calls to make.
    pub budget: Budget,
    /// How long to wait for the server.
    pub patience: Patience,
    /// Whether to go on to the other sets after one is proved.
    pub all: bool,
    /// How many instances are started beside each other.
    pub side_by_side: usize,
}

impl Request {
    /// How many runs go on beside each other. A server that somebody else runs is one: whoever puts it back does so for all.
    pub(crate) fn beside(&self) -> usize {
        if self.target.networked() { 1 } else { self.side_by_side.max(1) }
    }
}

/// What to call.
#[derive(Debug, Clone)]
pub enum Ask {
    /// These. A set without reads gets those that show what its calls change, if there are any.
    Sets(Vec<CallSet>),
    /// These, which broke before, somewhere else: what was compared then is compared now.
    Again(Vec<CallSet>),
    /// Whatever the hazards' probes pick, once it is known what the tools do.
    Survey,
    /// The same in two processes on one folder, as two clients have them.
    Between,
    /// What a scan has found, then whatever else the hazards' probes pick: nothing that writes is left out because a scan did not see it.
    Everything {
        /// The findings.
        findings: Vec<Found>,
    },
    /// What a scan has found.
    Findings {
        /// The findings.
        findings: Vec<Found>,
    },
}

/// What came of a request.
#[derive(Debug, Clone)]
pub struct Proved {
    /// For people.
    pub report: ProofReport,
    /// For each set of the report, the findings of a scan that it was made for.
    pub findings: Vec<Vec<Fingerprint>>,
}

/// How much a proof may cost.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// In time.
    pub time: Duration,
    /// In calls.
    pub calls: u64,
    /// In concurrent runs of one set.
    pub trials: u32,
    /// Of the time, what is kept back for whoever goes on once a race is shown.
    pub kept_back: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), calls: 2000, trials: 30, kept_back: Duration::ZERO }
    }
}

/// Who is told what is being done.
pub trait Progress: Send + Sync {
    /// One short line, in place of the one before.
    fn doing(&self, what: &str);

    /// Whether somebody has had enough: then what was seen so far is the report.
    fn enough(&self) -> bool {
        false
    }
}

/// Nobody is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn doing(&self, _: &str) {}
}

//! The fields of a report, in the order in which they are written.

use std::{borrow::Cow, collections::BTreeSet, time::Duration};

use interlock_model::{LegalOutcome, ProofReport, SetReport, StaleWindow};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    VERSION,
    call::{Call, Schedule, Set, nanos},
    run::{History, Outcome},
};

#[derive(Serialize, Deserialize)]
pub(super) struct Report {
    version: u64,
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writers: Option<Writers>,
    target: String,
    #[serde(default)]
    isolation: Isolation,
    took_ns: u64,
    explored: Explored,
    sets: Vec<Tried>,
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    learnt: Vec<Learnt>,
}

#[derive(Serialize, Deserialize)]
struct Learnt {
    tool: String,
    #[serde(default)]
    setup: Vec<Call>,
    #[serde(default)]
    works: Option<Call>,
    #[serde(default)]
    sources: Vec<Source>,
    #[serde(default)]
    refused: Vec<Refused>,
}

#[derive(Serialize, Deserialize)]
struct Source {
    argument: String,
    from: String,
}

#[derive(Serialize, Deserialize)]
struct Refused {
    #[serde(flatten)]
    call: Call,
    said: String,
}

#[derive(Serialize, Deserialize)]
struct Writers {
    tried: usize,
    known: usize,
}

#[derive(Serialize, Deserialize, Default)]
struct Isolation {
    folders: String,
    files: String,
    network: String,
    said: Vec<String>,
    changed_outside: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Tried {
    #[serde(flatten)]
    set: Set,
    verdict: Verdict,
    reason: String,
    explored: Explored,
    #[serde(default)]
    evidence: Option<Evidence>,
}

#[derive(Serialize, Deserialize)]
struct Explored {
    calls: u64,
    trials: u64,
    techniques: BTreeSet<String>,
    schedules: u64,
    #[serde(default)]
    walked_ns: u64,
    exhausted: bool,
}

#[derive(Serialize, Deserialize)]
struct Evidence {
    history: History,
    schedule: Schedule,
    observed: Outcome,
    legal: Vec<Legal>,
    violated: Vec<String>,
    #[serde(default)]
    stale: Option<Stale>,
    again: Again,
    #[serde(default)]
    replay: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Legal {
    orders: Vec<Vec<usize>>,
    outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
struct Stale {
    call: usize,
    from_ns: u64,
    to_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct Again {
    times: u32,
    runs: u32,
}

/// A verdict by its name.
struct Verdict(interlock_model::Verdict);

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map(Self).map_err(D::Error::custom)
    }
}

impl From<&ProofReport> for Report {
    fn from(report: &ProofReport) -> Self {
        Self {
            version: VERSION,
            verdict: Verdict(report.verdict),
            reason: report.reason.clone(),
            writers: report.writers.map(|writers| Writers { tried: writers.tried, known: writers.known }),
            target: report.target.clone(),
            isolation: (&report.isolation).into(),
            took_ns: nanos(report.took),
            explored: (&report.explored).into(),
            sets: report.sets.iter().map(Tried::from).collect(),
            notes: report.notes.clone(),
            learnt: report.learnt.iter().map(Learnt::from).collect(),
        }
    }
}

impl From<Report> for ProofReport {
    fn from(report: Report) -> Self {
        Self {
            target: report.target,
            verdict: report.verdict.0,
            reason: report.reason,
            writers: report.writers.map(|Writers { tried, known }| interlock_model::Writers { tried, known }),
            isolation: report.isolation.into(),
            sets: report.sets.into_iter().map(Into::into).collect(),
            explored: report.explored.into(),
            took: Duration::from_nanos(report.took_ns),
            notes: report.notes,
            learnt: report.learnt.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<&interlock_model::Learnt> for Learnt {
    fn from(learnt: &interlock_model::Learnt) -> Self {
        let source =
            |(argument, from): &(String, String)| Source { argument: argument.clone(), from: from.clone() };
        let refused = |(call, said): &(interlock_model::PlannedCall, String)| Refused {
            call: call.into(),
            said: said.clone(),
        };
        Self {
            tool: learnt.tool.clone(),
            setup: learnt.setup.iter().map(Call::from).collect(),
            works: learnt.works.as_ref().map(Call::from),
            sources: learnt.sources.iter().map(source).collect(),
            refused: learnt.refused.iter().map(refused).collect(),
        }
    }
}

impl From<Learnt> for interlock_model::Learnt {
    fn from(learnt: Learnt) -> Self {
        Self {
            tool: learnt.tool,
            setup: learnt.setup.into_iter().map(Into::into).collect(),
            works: learnt.works.map(Into::into),
            sources: learnt.sources.into_iter().map(|source| (source.argument, source.from)).collect(),
            refused: learnt.refused.into_iter().map(|refused| (refused.call.into(), refused.said)).collect(),
        }
    }
}

impl From<&interlock_model::Confinement> for Isolation {
    fn from(isolation: &interlock_model::Confinement) -> Self {
        Self {
            folders: isolation.folders.to_string(),
            files: isolation.files.to_string(),
            network: isolation.network.to_string(),
            said: isolation.said.clone(),
            changed_outside: isolation.changed.clone(),
        }
    }
}

/// A word that is not known is taken for the one that promises least.
impl From<Isolation> for interlock_model::Confinement {
    fn from(isolation: Isolation) -> Self {
        Self {
            folders: isolation.folders.parse().unwrap_or_default(),
            files: isolation.files.parse().unwrap_or_default(),
            network: isolation.network.parse().unwrap_or_default(),
            said: isolation.said,
            changed: isolation.changed_outside,
        }
    }
}

impl From<&SetReport> for Tried {
    fn from(report: &SetReport) -> Self {
        Self {
            set: (&report.set).into(),
            verdict: Verdict(report.verdict),
            reason: report.reason.clone(),
            explored: (&report.explored).into(),
            evidence: report.evidence.as_ref().map(Evidence::from),
        }
    }
}

impl From<Tried> for SetReport {
    fn from(tried: Tried) -> Self {
        Self {
            set: tried.set.into(),
            verdict: tried.verdict.0,
            reason: tried.reason,
            explored: tried.explored.into(),
            evidence: tried.evidence.map(Into::into),
        }
    }
}

impl From<&interlock_model::Explored> for Explored {
    fn from(explored: &interlock_model::Explored) -> Self {
        let interlock_model::Explored { calls, trials, techniques, schedules, walked, exhausted } =
            explored.clone();
        Self { calls, trials, techniques, schedules, walked_ns: nanos(walked), exhausted }
    }
}

impl From<Explored> for interlock_model::Explored {
    fn from(explored: Explored) -> Self {
        let Explored { calls, trials, techniques, schedules, walked_ns, exhausted } = explored;
        Self { calls, trials, techniques, schedules, walked: Duration::from_nanos(walked_ns), exhausted }
    }
}

impl From<&interlock_model::Evidence> for Evidence {
    fn from(evidence: &interlock_model::Evidence) -> Self {
        let legal = |one: &LegalOutcome| Legal { orders: one.orders.clone(), outcome: (&one.outcome).into() };
        let (times, runs) = evidence.again;
        Self {
            history: (&evidence.history).into(),
            schedule: (&evidence.schedule).into(),
            observed: (&evidence.observed).into(),
            legal: evidence.legal.iter().map(legal).collect(),
            violated: evidence.violated.clone(),
            stale: evidence.stale.map(|stale| Stale {
                call: stale.call,
                from_ns: nanos(stale.from),
                to_ns: nanos(stale.to),
            }),
            again: Again { times, runs },
            replay: evidence.replay.clone(),
        }
    }
}

impl From<Evidence> for interlock_model::Evidence {
    fn from(evidence: Evidence) -> Self {
        let legal = |one: Legal| LegalOutcome { outcome: one.outcome.into(), orders: one.orders };
        Self {
            history: evidence.history.into(),
            schedule: evidence.schedule.into(),
            observed: evidence.observed.into(),
            legal: evidence.legal.into_iter().map(legal).collect(),
            violated: evidence.violated,
            stale: evidence.stale.map(|stale| StaleWindow {
                call: stale.call,
                from: Duration::from_nanos(stale.from_ns),
                to: Duration::from_nanos(stale.to_ns),
            }),
            again: (evidence.again.times, evidence.again.runs),
            replay: evidence.replay,
        }
    }
}

//! The fields, in the order in which they are written.

use std::{borrow::Cow, fmt::Display, str::FromStr};

use interlock_model::{
    Confidence, Explored, Fingerprint, Grade, HazardId, Lane, Location, Rating, Reach, Severity, Verdict,
    Witness,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{VERSION, coverage::Coverage, policy::Policy};

/// What stands for the reason that a report does not give.
const UNSAID: &str = "the report does not say why";

#[derive(Serialize, Deserialize)]
pub(super) struct Report {
    version: u64,
    #[serde(deserialize_with = "percent")]
    score: Option<u8>,
    grade: Option<Letter>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    not_graded: Option<String>,
    coverage: Coverage,
    findings: Vec<Finding>,
}

#[derive(Serialize, Deserialize)]
struct Finding {
    #[serde(with = "named")]
    hazard: HazardId,
    #[serde(with = "named")]
    severity: Severity,
    #[serde(with = "named")]
    confidence: Confidence,
    #[serde(with = "named")]
    reach: Reach,
    file: String,
    line: u32,
    end_line: u32,
    function: String,
    tools: Vec<String>,
    message: String,
    witness: Vec<Step>,
    remedy: Remedy,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    hardening: Option<Hardening>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    proof: Option<Proof>,
}

#[derive(Serialize, Deserialize)]
struct Step {
    call: Call,
    file: String,
    line: u32,
    step: String,
}

#[derive(Serialize, Deserialize)]
struct Remedy {
    code: String,
    policy: Vec<Policy>,
}

/// What says that it is about a server that could bear more, and where else the same is to be said of it.
#[derive(Serialize, Deserialize)]
struct Hardening {
    server: Option<Position>,
    further: Vec<Position>,
}

#[derive(Serialize, Deserialize)]
struct Position {
    file: String,
    line: u32,
}

#[derive(Serialize, Deserialize)]
struct Proof {
    #[serde(with = "named")]
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default)]
    replay: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum Letter {
    A,
    B,
    C,
    D,
    F,
}

#[derive(Serialize, Deserialize)]
enum Call {
    A,
    B,
    X,
}

/// A value by the name it has everywhere else, so that the names are written down once.
mod named {
    use super::*;

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

fn percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let score = Option::<u8>::deserialize(deserializer)?;
    if let Some(score) = score.filter(|score| *score > 100) {
        return Err(D::Error::custom(format_args!("a score of {score}, which is above 100")));
    }
    Ok(score)
}

impl From<&interlock_model::Report> for Report {
    fn from(report: &interlock_model::Report) -> Self {
        Self {
            version: VERSION,
            score: report.rating.score(),
            grade: report.rating.grade().map(Into::into),
            not_graded: report.rating.not_graded().map(str::to_owned),
            coverage: Coverage::from(&report.coverage),
            findings: report.findings.iter().map(Finding::from).collect(),
        }
    }
}

impl From<Report> for interlock_model::Report {
    fn from(report: Report) -> Self {
        Self {
            rating: report.score.map_or_else(
                || Rating::NotGraded(report.not_graded.unwrap_or_else(|| UNSAID.to_owned())),
                Rating::Score,
            ),
            coverage: report.coverage.into(),
            findings: report.findings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<&interlock_model::Finding> for Finding {
    fn from(finding: &interlock_model::Finding) -> Self {
        Self {
            hazard: finding.hazard.clone(),
            severity: finding.severity,
            confidence: finding.confidence,
            reach: finding.reach,
            file: finding.location.file.clone(),
            line: finding.location.line,
            end_line: finding.location.end_line,
            function: finding.function.clone(),
            tools: finding.tools.clone(),
            message: finding.message.clone(),
            witness: finding.witness.0.iter().map(Step::from).collect(),
            remedy: Remedy {
                code: finding.remedy.code.clone(),
                policy: finding.remedy.policy.iter().map(Policy::from).collect(),
            },
            fingerprint: finding.fingerprint.0.clone(),
            hardening: finding.hardening.as_ref().map(|hardening| Hardening {
                server: hardening.server.as_ref().map(Position::from),
                further: hardening.further.iter().map(Position::from).collect(),
            }),
            proof: finding.proof.as_ref().map(|proof| Proof {
                verdict: proof.verdict,
                reason: proof.reason.clone(),
                replay: proof.replay.clone(),
            }),
        }
    }
}

impl From<Finding> for interlock_model::Finding {
    fn from(finding: Finding) -> Self {
        let Remedy { code, policy } = finding.remedy;
        Self {
            hazard: finding.hazard,
            severity: finding.severity,
            confidence: finding.confidence,
            reach: finding.reach,
            location: Location { file: finding.file, line: finding.line, end_line: finding.end_line },
            function: finding.function,
            tools: finding.tools,
            message: finding.message,
            witness: Witness(finding.witness.into_iter().map(Into::into).collect()),
            remedy: interlock_model::Remedy {
                code,
                policy: policy.into_iter().map(Into::into).collect(),
                primitive: None,
            },
            fingerprint: Fingerprint(finding.fingerprint),
            hardening: finding.hardening.map(|hardening| interlock_model::Hardening {
                server: hardening.server.map(Into::into),
                further: hardening.further.into_iter().map(Into::into).collect(),
            }),
            proof: finding.proof.map(|proof| interlock_model::Proof {
                verdict: proof.verdict,
                reason: proof.reason,
                explored: Explored::default(),
                replay: proof.replay,
            }),
        }
    }
}

impl From<&Location> for Position {
    fn from(location: &Location) -> Self {
        Self { file: location.file.clone(), line: location.line }
    }
}

impl From<Position> for Location {
    fn from(position: Position) -> Self {
        Self { file: position.file, line: position.line, end_line: position.line }
    }
}

impl From<&interlock_model::WitnessStep> for Step {
    fn from(step: &interlock_model::WitnessStep) -> Self {
        let call = match step.lane {
            Lane::A => Call::A,
            Lane::B => Call::B,
            Lane::X => Call::X,
        };
        Self { call, file: step.location.file.clone(), line: step.location.line, step: step.step.clone() }
    }
}

impl From<Step> for interlock_model::WitnessStep {
    fn from(step: Step) -> Self {
        let lane = match step.call {
            Call::A => Lane::A,
            Call::B => Lane::B,
            Call::X => Lane::X,
        };
        Self {
            lane,
            location: Location { file: step.file, line: step.line, end_line: step.line },
            step: step.step,
        }
    }
}

impl From<Grade> for Letter {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::A => Self::A,
            Grade::B => Self::B,
            Grade::C => Self::C,
            Grade::D => Self::D,
            Grade::F => Self::F,
        }
    }
}

//! How a proof is written down: what `prove` prints, draws and saves.
//!
//! What a server answers comes from unknown hands and is shown only as text. All formats speak of the calls of a set by the same
//! letters, and of an outcome by the same paths.

mod delta;
mod difference;
pub(crate) mod markup;
mod scale;
mod value;
mod words;

pub mod html;
pub mod json;
pub mod plan;
pub mod replay;
pub mod svg;
pub mod text;
pub mod trace;

use interlock_model::{Fingerprint, HazardId, Proof, ProofReport, Report, SetReport};

/// What stops a hazard, in a sentence, where the catalogue knows it.
pub type Remedies<'r> = dyn Fn(&HazardId) -> Option<String> + 'r;

/// How much was tried, in words.
pub(crate) fn explored(report: &ProofReport) -> String {
    words::explored(&report.explored)
}

/// Gives each finding of a scan what was proven of it: of several sets for one finding, the worst counts. `made_for` says of each set which
/// findings it was made for.
pub fn merge(scan: &mut Report, report: &ProofReport, made_for: &[Vec<Fingerprint>]) {
    for finding in &mut scan.findings {
        let of_it =
            report.sets.iter().zip(made_for).filter(|(_, made_for)| made_for.contains(&finding.fingerprint));
        // Of equal ones the first: the plainest come first.
        let worst = of_it.map(|(set, _)| set).rev().max_by_key(|set| set.verdict);
        finding.proof = worst.map(of);
    }
}

/// What a finding of a scan carries of a set that was proven for it.
#[must_use]
pub fn of(report: &SetReport) -> Proof {
    Proof {
        verdict: report.verdict,
        reason: Some(report.reason.clone()),
        explored: report.explored.clone(),
        replay: report.evidence.as_ref().and_then(|evidence| evidence.replay.clone()),
    }
}

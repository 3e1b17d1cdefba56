//! How a proof is written down: what `prove` prints, draws and saves.
//!
//! What a server answers comes from unknown hands and is shown only as text. All formats speak of the calls of a set by the same
//! letters, and of an outcome by the same paths.

mod delta;
mod difference;
mod markup;
mod scale;
mod value;
mod words;

pub mod html;
pub mod json;
pub mod replay;
pub mod svg;
pub mod text;
pub mod trace;

use interlock_model::{HazardId, Proof, SetReport};

/// What stops a hazard, in a sentence, where the catalogue knows it.
pub type Remedies<'r> = dyn Fn(&HazardId) -> Option<String> + 'r;

/// What a finding of a scan carries of a set that was proven for it.
#[must_use]
pub fn of(report: &SetReport) -> Proof {
    Proof {
        verdict: report.verdict,
        explored: report.explored.clone(),
        replay: report.evidence.as_ref().and_then(|evidence| evidence.replay.clone()),
    }
}

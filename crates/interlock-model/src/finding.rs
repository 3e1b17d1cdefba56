//! A finding: one place where concurrent calls may go wrong, and the interleaving that shows it.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::{Confidence, Explored, HazardId, Reach, Remedy, Severity, Verdict};

/// One place where a hazard stands, as a reader of a report sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which hazard.
    pub hazard: HazardId,
    /// How bad; at most the hazard's own severity.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Who can come in between.
    pub reach: Reach,
    /// Where to look.
    pub location: Location,
    /// The function it stands in, qualified as its language does.
    pub function: String,
    /// The tools through which a caller reaches it, sorted.
    pub tools: Vec<String>,
    /// One sentence: what is lost, and for whom.
    pub message: String,
    /// The interleaving, step by step.
    pub witness: Witness,
    /// How to stop it.
    pub remedy: Remedy,
    /// The same from run to run, and while lines above it come and go.
    pub fingerprint: Fingerprint,
    /// Set where no call loses anything, and the server could only bear more.
    pub hardening: Option<Hardening>,
    /// What the live server had to say, once asked.
    #[serde(skip)]
    pub proof: Option<Proof>,
}

impl Finding {
    /// Whether it counts for the score and the exit code. What is only assumed to be reached is shown to those who ask for it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.confidence > Confidence::Low
    }
}

/// A place in a file, for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Relative to the scanned root, with forward slashes.
    pub file: String,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line, counted from 1.
    pub end_line: u32,
}

/// What a finding says of a whole server that could bear more: it stands once for each server, below what goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hardening {
    /// Where the server starts to listen; `None` where that is not known.
    pub server: Option<Location>,
    /// Where else the same is to be said of the same server.
    pub further: Vec<Location>,
}

/// What recognises a finding again in a baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub String);

/// What `prove` saw of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Its verdict.
    pub verdict: Verdict,
    /// In a sentence, what was seen, or why nothing was; also that a finding is doubtful of which nothing was shown.
    pub reason: Option<String>,
    /// How much was tried.
    pub explored: Explored,
    /// The replay file that shows it again.
    pub replay: Option<String>,
}

/// An interleaving that ends badly: who does what, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Witness(pub Vec<WitnessStep>);

/// One step of a [`Witness`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessStep {
    /// Whose step it is.
    pub lane: Lane,
    /// Where it stands.
    pub location: Location,
    /// What happens, in a few words: "reads the whole graph".
    pub step: String,
}

/// Whose step it is: the `call` of a witness in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lane {
    /// The call that suffers.
    A,
    /// The call that comes in between.
    B,
    /// What is no call: a crash, an error, a retry, a close.
    X,
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
            Self::X => "X",
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Two columns, numbered in time order: call A on the left, call B or what else intervenes on the right.
///
/// The columns are as wide as their longest step, so the text is the same wherever it is printed.
impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: Vec<String> =
            (1..).zip(&self.0).map(|(n, s)| format!("{n} {}  {}", s.step, s.location)).collect();
        let left = |step: &WitnessStep| step.lane == Lane::A;
        let width = cells
            .iter()
            .zip(&self.0)
            .filter(|(_, step)| left(step))
            .map(|(cell, _)| cell.chars().count())
            .max();
        let indent = width.unwrap_or(0) + 2;
        for (cell, step) in cells.iter().zip(&self.0) {
            if left(step) {
                writeln!(f, "{cell}")?;
            } else {
                writeln!(f, "{:indent$}{cell}", "")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn step(lane: Lane, line: u32, step: &str) -> WitnessStep {
        let location = Location { file: "index.ts".into(), line, end_line: line };
        WitnessStep { lane, location, step: step.into() }
    }

    #[test]
    fn a_witness_reads_as_two_columns_in_time_order() {
        let witness = Witness(vec![
            step(Lane::A, 121, "reads the whole graph"),
            step(Lane::B, 121, "reads the whole graph"),
            step(Lane::A, 125, "writes the whole graph"),
            step(Lane::B, 125, "writes the whole graph: A's entities are gone"),
        ]);
        expect![[r#"
            1 reads the whole graph  index.ts:121
                                                    2 reads the whole graph  index.ts:121
            3 writes the whole graph  index.ts:125
                                                    4 writes the whole graph: A's entities are gone  index.ts:125
        "#]]
        .assert_eq(&witness.to_string());
    }
}

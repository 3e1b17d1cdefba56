//! What a scan says of a probe: which of four outcomes it is, and why it is not the best one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::report::{Finding, Report};

/// The hazard that the probe is. Another one on its line shows reach as well, but that the race itself is not reported is said.
const HAZARD: &str = "lost-update";

/// How far a scan came, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// A finding at the probe names the tool.
    Named,
    /// A finding at the probe names other tools or none.
    Reached,
    /// Findings at the probe, all of low confidence.
    LowOnly,
    /// No finding, or no place for the probe.
    Missed,
}

impl Outcome {
    pub(super) const ALL: [Self; 4] = [Self::Named, Self::Reached, Self::LowOnly, Self::Missed];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Named => "right name",
            Self::Reached => "other or no name",
            Self::LowOnly => "low only",
            Self::Missed => "not at all",
        }
    }
}

/// An outcome, and what the report shows of its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) why: String,
}

/// Judges the probe of a tool by the findings on its line, on which nothing else stands.
pub(super) fn judge(report: &Report, tool: &str, file: &str, line: u32) -> Verdict {
    let here = |finding: &&Finding| finding.places.iter().any(|(place, at)| place == file && *at == line);
    let found: Vec<&Finding> = report.findings.iter().filter(here).collect();
    let sure: Vec<&Finding> = found.iter().copied().filter(|finding| finding.confidence != "low").collect();
    let named: Vec<&Finding> =
        sure.iter().copied().filter(|finding| finding.tools.iter().any(|name| name == tool)).collect();
    let (outcome, of_outcome, why) = if !named.is_empty() {
        (Outcome::Named, named, String::new())
    } else if !sure.is_empty() {
        let why = format!(
            "the finding names {}",
            listed(sure.iter().flat_map(|finding| &finding.tools), "no tool")
        );
        (Outcome::Reached, sure, why)
    } else if !found.is_empty() {
        (Outcome::LowOnly, found, "of low confidence".to_owned())
    } else {
        let note = report.notes.iter().find(|note| note.contains(file));
        let note = note.map(|note| format!("; the report says: {note}")).unwrap_or_default();
        return Verdict { outcome: Outcome::Missed, why: format!("no finding at the probe{note}") };
    };
    if of_outcome.iter().any(|finding| finding.hazard == HAZARD) {
        return Verdict { outcome, why };
    }
    let instead = listed(of_outcome.iter().map(|finding| &finding.hazard), "nothing");
    let and = if why.is_empty() { "" } else { "; " };
    Verdict { outcome, why: format!("{why}{and}not as {HAZARD} but as {instead}") }
}

/// Words in order, each once.
fn listed<'a>(words: impl Iterator<Item = &'a String>, none: &str) -> String {
    let words: Vec<&str> = words.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    if words.is_empty() { none.to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: &[(&str, &str, &[&str])]) -> Report {
        let finding = |(hazard, confidence, tools): &(&str, &str, &[&str])| Finding {
            hazard: (*hazard).to_owned(),
            confidence: (*confidence).to_owned(),
            tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
            places: vec![("a.ts".to_owned(), 7)],
        };
        Report {
            findings: findings.iter().map(finding).collect(),
            notes: vec!["a.ts:1: not read".to_owned()],
            ..Report::default()
        }
    }

    fn outcome(findings: &[(&str, &str, &[&str])]) -> Outcome {
        judge(&report(findings), "add", "a.ts", 7).outcome
    }

    #[test]
    fn the_best_finding_at_the_probe_decides() {
        assert_eq!(outcome(&[("lost-update", "medium", &["add", "put"])]), Outcome::Named);
        assert_eq!(
            outcome(&[("lost-update", "high", &["put"]), ("lost-update", "low", &["add"])]),
            Outcome::Reached
        );
        assert_eq!(outcome(&[("lost-update", "low", &["add"])]), Outcome::LowOnly);
        assert_eq!(outcome(&[]), Outcome::Missed);
    }

    #[test]
    fn another_hazard_at_the_probe_is_reach_and_is_told_apart() {
        let verdict = judge(&report(&[("non-atomic-file-replace", "high", &["add"])]), "add", "a.ts", 7);
        assert_eq!(verdict.outcome, Outcome::Named);
        assert_eq!(verdict.why, "not as lost-update but as non-atomic-file-replace");
        let both = [("non-atomic-file-replace", "high", &["add"][..]), ("lost-update", "high", &["add"])];
        assert_eq!(judge(&report(&both), "add", "a.ts", 7).why, "");
    }

    #[test]
    fn what_is_missed_repeats_what_the_report_says_of_the_file() {
        let verdict = judge(&report(&[]), "add", "a.ts", 7);
        assert!(verdict.why.ends_with("the report says: a.ts:1: not read"), "{}", verdict.why);
        assert_eq!(
            judge(&report(&[("lost-update", "high", &["add"])]), "add", "a.ts", 8).outcome,
            Outcome::Missed
        );
    }
}

//! What a scan says of a probe: which of four outcomes it is, and why it is not the best one.

use serde::Serialize;

use crate::report::{Finding, Report};

/// The hazard that the probe is.
const HAZARD: &str = "lost-update";

/// How far a scan came, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

/// Judges the probe of a tool by the findings on its line.
pub(super) fn judge(report: &Report, tool: &str, file: &str, line: u32) -> Verdict {
    let here = |finding: &&Finding| {
        finding.hazard == HAZARD && finding.places.iter().any(|(place, at)| place == file && *at == line)
    };
    let found: Vec<&Finding> = report.findings.iter().filter(here).collect();
    let sure: Vec<&Finding> = found.iter().copied().filter(|finding| finding.confidence != "low").collect();
    let names = |findings: &[&Finding]| {
        let mut names: Vec<&str> =
            findings.iter().flat_map(|finding| finding.tools.iter().map(|name| &**name)).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { "no tool".to_owned() } else { names.join(", ") }
    };
    let named = |finding: &&&Finding| finding.tools.iter().any(|name| name == tool);
    let (outcome, why) = if sure.iter().any(|finding| named(&finding)) {
        (Outcome::Named, String::new())
    } else if !sure.is_empty() {
        (Outcome::Reached, format!("the finding names {}", names(&sure)))
    } else if !found.is_empty() {
        (Outcome::LowOnly, format!("of low confidence, naming {}", names(&found)))
    } else {
        let note = report.notes.iter().find(|note| note.contains(file));
        let note = note.map(|note| format!("; the report says: {note}")).unwrap_or_default();
        (Outcome::Missed, format!("no finding at the probe in {file}{note}"))
    };
    Verdict { outcome, why }
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
        assert_eq!(outcome(&[("non-atomic-file-replace", "high", &["add"])]), Outcome::Missed);
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

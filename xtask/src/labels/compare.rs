//! A server's labels beside the report of its scan.

use super::lists::{Label, Server};
use crate::report::{Finding, Report};

/// How far from a line of a race a finding may stand and still be about it.
const NEAR: u32 = 3;
/// The same for a trap: a true finding may stand close to one.
const AT_A_TRAP: u32 = 1;

/// What became of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Told at medium or high.
    Found,
    /// Told at low only, which nobody sees unless they ask.
    Low,
    /// Something stands there, under a hazard that is not a fair name for it.
    Other,
    Missed,
}

/// A server, compared.
pub(super) struct Compared<'a> {
    pub(super) server: &'a Server,
    pub(super) tools: usize,
    /// Tools that the scan names and nobody has listed.
    pub(super) invented: usize,
    pub(super) followed: usize,
    pub(super) races: Vec<(&'a Label, Answer)>,
    /// The traps that are told at medium or high.
    pub(super) trapped: Vec<&'a Label>,
    pub(super) high: usize,
    pub(super) medium: usize,
    pub(super) grade: Option<String>,
}

pub(super) fn compare<'a>(server: &'a Server, report: &Report) -> Compared<'a> {
    let named = |tool: &String| report.tools.iter().any(|(name, _)| name == tool);
    let of = |confidence: &str| report.findings.iter().filter(|one| one.confidence == confidence).count();
    let trapped = |trap: &&Label| {
        let told = |one: &&Finding| {
            let here = one.places.first().is_some_and(|(file, _)| *file == trap.file);
            seen(one) && one.hazard == trap.hazard && here && near(one, trap, AT_A_TRAP)
        };
        report.findings.iter().find(told).is_some()
    };
    Compared {
        server,
        tools: server.tools.iter().filter(|tool| named(tool)).count(),
        invented: report.tools.iter().filter(|(name, _)| !server.tools.contains(name)).count(),
        followed: report.tools.iter().filter(|(_, followed)| *followed).count(),
        races: server.races.iter().map(|race| (race, answer(race, &report.findings))).collect(),
        trapped: server.traps.iter().filter(trapped).collect(),
        high: of("high"),
        medium: of("medium"),
        grade: report.grade.clone(),
    }
}

fn answer(race: &Label, findings: &[Finding]) -> Answer {
    let here: Vec<&Finding> = findings.iter().filter(|finding| near(finding, race, NEAR)).collect();
    let fair = |finding: &&&Finding| finding.hazard == race.hazard || race.others.contains(&finding.hazard);
    if here.iter().filter(fair).any(|finding| seen(finding)) {
        Answer::Found
    } else if here.iter().find(fair).is_some() {
        Answer::Low
    } else if here.is_empty() {
        Answer::Missed
    } else {
        Answer::Other
    }
}

fn seen(finding: &Finding) -> bool {
    finding.confidence != "low"
}

/// Whether the finding or its witness stands within some lines of one that the label names.
fn near(finding: &Finding, label: &Label, lines: u32) -> bool {
    let places = label.places();
    finding.places.iter().any(|(file, line)| {
        places.iter().any(|(labelled, at)| file == labelled && line.abs_diff(*at) <= lines)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(hazard: &str, confidence: &str, line: u32) -> Finding {
        let places = vec![("a.ts".to_owned(), line), ("b.ts".to_owned(), 90)];
        Finding { hazard: hazard.to_owned(), confidence: confidence.to_owned(), tools: Vec::new(), places }
    }

    fn label(others: &[&str]) -> Label {
        Label {
            hazard: "lost-update".to_owned(),
            others: others.iter().map(|&other| other.to_owned()).collect(),
            file: "a.ts".to_owned(),
            line: 10,
            act_file: None,
            act_line: Some(20),
            also: Vec::new(),
            why: String::new(),
        }
    }

    #[test]
    fn a_race_is_found_where_it_stands_under_a_fair_name() {
        let of = |hazard: &str, confidence: &str, line| {
            answer(&label(&["db-check-then-act"]), &[finding(hazard, confidence, line)])
        };
        assert_eq!(of("lost-update", "medium", 13), Answer::Found);
        assert_eq!(of("db-check-then-act", "high", 17), Answer::Found);
        assert_eq!(of("lost-update", "low", 10), Answer::Low);
        assert_eq!(of("retry-storm", "high", 10), Answer::Other);
        assert_eq!(of("lost-update", "high", 14), Answer::Missed);
    }

    #[test]
    fn tools_and_traps_are_counted_by_name_and_place() {
        let server = Server {
            repo: "a/b".to_owned(),
            commit: "1".to_owned(),
            tools: vec!["add".to_owned(), "drop".to_owned()],
            races: Vec::new(),
            traps: vec![label(&[])],
        };
        let tools = vec![("add".to_owned(), true), ("extra".to_owned(), false)];
        let told = |confidence, line| Report {
            findings: vec![finding("lost-update", confidence, line)],
            tools: tools.clone(),
            ..Report::default()
        };
        let report = told("high", 11);
        let Compared { tools: found, invented, followed, trapped, high, .. } = compare(&server, &report);
        assert_eq!((found, invented, followed, trapped.len(), high), (1, 1, 1, 1, 1));
        assert!(compare(&server, &told("high", 12)).trapped.is_empty());
        assert!(compare(&server, &told("low", 10)).trapped.is_empty());
    }
}

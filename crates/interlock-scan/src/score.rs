//! The score: 100 less what the findings deduct.
//!
//! Each hazard deducts its amount once, plus a quarter of it per further site, at most twice the amount. A finding below its hazard's own
//! severity deducts at most 10 (medium) or 5 (low); one that only another process can reach counts half. What is suppressed or in the
//! baseline is no finding any more. The score is an integer, rounded half up, never below 0.
//!
//! Findings of low confidence deduct nothing. A tree of which too little was seen that callers can reach has no score: a hundred would be
//! praise for what nobody has looked at.

use std::collections::BTreeMap;

use interlock_hazards::find;
use interlock_model::{Coverage, Finding, HazardId, Loss, Rating, Reach, Severity};

use crate::{advice, walk::UnreadServer};

/// Points in eighths: a half of a quarter is the smallest part.
const PARTS: u32 = 8;

/// Of a hundred tools, so many must have been followed to the end for a grade.
const ENOUGH: usize = 80;

/// What there was to judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'s> {
    /// What was looked at.
    pub(crate) coverage: &'s Coverage,
    /// Files that their front end gave up on.
    pub(crate) failed: usize,
    /// Where tools may be that nobody sees.
    pub(crate) unseen: &'s Unseen,
}

/// Where tools may be that no front end has seen, so that nobody can say how many there are.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// The places at which a server is handed to something unknown that announces tools.
    pub(crate) registrars: Vec<Loss>,
    /// The servers in languages that are not read.
    pub(crate) unread: Vec<UnreadServer>,
}

/// What the tree is worth, if there was something to judge.
pub(crate) fn rating(findings: &[Finding], deductions: &BTreeMap<HazardId, u8>, seen: &Seen<'_>) -> Rating {
    let Seen { coverage: Coverage { files, tools, listed, .. }, failed, unseen } = *seen;
    // What the running server lists is all that there is.
    let unread = unseen.unread.first().filter(|_| listed.is_none());
    let registrar = unseen.registrars.first().filter(|_| listed.is_none());
    let out_of_sight =
        unread.map(advice::unread).or_else(|| registrar.map(|place| advice::registrar(place, tools.len())));
    match (*files, failed, tools.len()) {
        (0, 0, _) if unread.is_none() => Rating::NotGraded(advice::no_source()),
        (0, failed, _) if unread.is_none() => Rating::NotGraded(advice::no_file_read(failed)),
        _ if out_of_sight.is_some() => Rating::NotGraded(out_of_sight.unwrap_or_default()),
        (files, _, 0) => Rating::NotGraded(advice::no_tool(files)),
        (_, _, all) if seen.coverage.followed() * 100 < all * ENOUGH => {
            Rating::NotGraded(advice::not_followed(tools, ENOUGH))
        }
        _ => Rating::Score(score(findings, deductions)),
    }
}

/// The score of what is reported. `deductions` are the user's own amounts, where they differ from the catalogue's.
#[must_use]
pub fn score(findings: &[Finding], deductions: &BTreeMap<HazardId, u8>) -> u8 {
    let mut sites: BTreeMap<&HazardId, Vec<u32>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.counts()) {
        sites.entry(&finding.hazard).or_default().push(parts_of(finding, deductions));
    }
    let deducted: u32 =
        sites.iter().map(|(hazard, sites)| of_hazard(amount(hazard, deductions), sites)).sum();
    let left = (100 * PARTS).saturating_sub(deducted);
    let rounded = (left + PARTS / 2) / PARTS;
    u8::try_from(rounded).unwrap_or(100)
}

/// What all sites of a hazard deduct. The worst counts in full, so that the order does not matter.
fn of_hazard(amount: u32, sites: &[u32]) -> u32 {
    let worst = sites.iter().copied().max().unwrap_or_default();
    let all: u32 = sites.iter().sum();
    let further = (all - worst) / 4;
    (worst + further).min(2 * amount * PARTS)
}

/// What one site would deduct alone.
fn parts_of(finding: &Finding, deductions: &BTreeMap<HazardId, u8>) -> u32 {
    let amount = amount(&finding.hazard, deductions);
    let lowered = find(finding.hazard.as_str()).is_some_and(|hazard| finding.severity < hazard.severity);
    let most = match finding.severity {
        Severity::Low if lowered => 5,
        Severity::Medium if lowered => 10,
        _ => u32::MAX,
    };
    let parts = amount.min(most) * PARTS;
    if finding.reach == Reach::CrossProcess { parts / 2 } else { parts }
}

fn amount(hazard: &HazardId, deductions: &BTreeMap<HazardId, u8>) -> u32 {
    let of_catalogue = || find(hazard.as_str()).map_or(0, |hazard| hazard.deduction);
    u32::from(deductions.get(hazard).copied().unwrap_or_else(of_catalogue))
}

#[cfg(test)]
mod tests {
    use interlock_model::{Confidence, Fingerprint, Location, Loss, LossKind, Remedy, ToolCoverage, Witness};

    use super::*;

    fn finding(hazard: &str, severity: Severity, reach: Reach) -> Finding {
        Finding {
            hazard: hazard.parse().unwrap(),
            severity,
            confidence: Confidence::High,
            reach,
            location: Location { file: "a.ts".into(), line: 1, end_line: 1 },
            function: "f".into(),
            tools: Vec::new(),
            message: String::new(),
            witness: Witness::default(),
            remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
            fingerprint: Fingerprint(String::new()),
            hardening: None,
            proof: None,
        }
    }

    fn check(findings: &[(&str, Severity, Reach)], expected: u8) {
        let findings: Vec<Finding> = findings.iter().map(|(h, s, r)| finding(h, *s, *r)).collect();
        assert_eq!(score(&findings, &BTreeMap::new()), expected);
        let backwards: Vec<Finding> = findings.into_iter().rev().collect();
        assert_eq!(score(&backwards, &BTreeMap::new()), expected, "the order must not matter");
    }

    use Reach::{Both, CrossProcess, InProcess};
    use Severity::{Critical, High, Low, Medium};

    #[test]
    fn nothing_found_is_a_hundred() {
        check(&[], 100);
    }

    #[test]
    fn each_hazard_deducts_its_amount_once() {
        check(&[("lost-update", High, Both)], 85);
        check(&[("lost-update", High, Both), ("auth-check-then-act", Critical, InProcess)], 63);
    }

    #[test]
    fn a_further_site_deducts_a_quarter_and_halves_are_rounded_up() {
        check(&[("lost-update", High, Both); 2], 81); // 100 - 15 - 3.75 = 81.25
        check(&[("lost-update", High, Both); 3], 78); // 100 - 15 - 7.5 = 77.5
        check(&[("db-check-then-act", High, Both); 2], 78); // 100 - 18 - 4.5 = 77.5
    }

    #[test]
    fn a_hazard_deducts_at_most_twice_its_amount() {
        check(&[("lost-update", High, Both); 5], 70); // 15 + 4 * 3.75 = 30
        check(&[("lost-update", High, Both); 50], 70);
    }

    #[test]
    fn a_finding_below_its_hazards_severity_deducts_less() {
        check(&[("lost-update", Medium, Both)], 90);
        check(&[("lost-update", Low, Both)], 95);
        check(&[("auth-check-then-act", High, Both)], 78); // only medium and low have a bound
        check(&[("non-atomic-file-replace", Medium, Both)], 92); // its own severity
        check(&[("non-atomic-file-replace", Low, Both)], 95);
        check(&[("retry-storm", Low, Both)], 96); // its own severity
    }

    #[test]
    fn what_only_another_process_can_reach_counts_half() {
        check(&[("lost-update", High, CrossProcess)], 93); // 100 - 7.5 = 92.5
        check(&[("lost-update", Medium, CrossProcess)], 95);
        check(&[("lost-update", High, CrossProcess), ("lost-update", High, Both)], 83); // 15 + 1.875 = 83.125
    }

    #[test]
    fn the_score_never_falls_below_zero() {
        let all: Vec<_> =
            interlock_hazards::ALL.iter().flat_map(|h| [(h.id.as_str(), h.severity, Both); 9]).collect();
        check(&all, 0);
    }

    fn coverage(files: usize, followed: &[bool]) -> Coverage {
        let lost = Loss {
            location: Location { file: "a.ts".into(), line: 7, end_line: 7 },
            kind: LossKind::UnresolvedReceiver,
            callee: "store.save".into(),
            hides: true,
        };
        let tool = |(number, followed): (usize, &bool)| ToolCoverage {
            name: format!("tool_{number}"),
            followed: *followed,
            lost: if *followed { vec![] } else { vec![lost.clone()] },
        };
        let tools = followed.iter().enumerate().map(tool).collect();
        Coverage { files, tools, ..Coverage::default() }
    }

    #[test]
    fn what_was_not_seen_is_not_graded() {
        let rated = |files, failed, tools: &[bool]| {
            let coverage = coverage(files, tools);
            let unseen = Unseen::default();
            rating(&[], &BTreeMap::new(), &Seen { coverage: &coverage, failed, unseen: &unseen })
        };
        assert_eq!(rated(1, 0, &[true]), Rating::Score(100));
        assert_eq!(
            rated(1, 0, &[true, true, true, true, false]),
            Rating::Score(100),
            "four of five are enough"
        );
        for (seen, why) in [
            (rated(0, 0, &[]), "no source file was read"),
            (rated(0, 3, &[true]), "none of the 3 source files could be read"),
            (rated(1, 0, &[]), "no tool of an MCP server was found in 1 file."),
            (rated(2, 1, &[]), "no tool of an MCP server was found in 2 files."),
            (
                rated(1, 0, &[true, true, true, false]),
                "3 of 4 tools were followed to the end, and a grade needs 80 %",
            ),
            (rated(1, 0, &[false]), "0 of 1 tool was followed to the end"),
        ] {
            assert!(seen.not_graded().unwrap().starts_with(why), "{seen:?}");
            assert_eq!((seen.score(), seen.grade()), (None, None));
        }
    }

    #[test]
    fn where_tools_may_be_that_nobody_sees_there_is_no_grade_unless_the_server_lists_them() {
        let place = Loss {
            location: Location { file: "a.ts".into(), line: 7, end_line: 7 },
            kind: LossKind::UnknownFunction,
            callee: "@acme/tools.installAll".into(),
            hides: true,
        };
        let server = UnreadServer { file: "Cargo.toml".into(), language: "Rust" };
        let mut coverage = coverage(1, &[true]);
        for (unseen, why) in [
            (
                Unseen { registrars: vec![place], unread: vec![] },
                "1 tool was found, and others may be announced",
            ),
            (Unseen { registrars: vec![], unread: vec![server] }, "a server of this tree is written in Rust"),
        ] {
            coverage.listed = None;
            let seen = Seen { coverage: &coverage, failed: 0, unseen: &unseen };
            let rated = rating(&[], &BTreeMap::new(), &seen);
            assert!(rated.not_graded().unwrap().starts_with(why), "{rated:?}");
            coverage.compare_with(&["tool_0".to_owned()]);
            let seen = Seen { coverage: &coverage, failed: 0, unseen: &unseen };
            assert_eq!(rating(&[], &BTreeMap::new(), &seen), Rating::Score(100));
        }
    }

    #[test]
    fn what_is_of_low_confidence_deducts_nothing() {
        let mut one = finding("lost-update", High, Both);
        one.confidence = Confidence::Low;
        assert_eq!(score(&[one.clone()], &BTreeMap::new()), 100);
        one.confidence = Confidence::Medium;
        assert_eq!(score(&[one], &BTreeMap::new()), 85);
    }

    #[test]
    fn the_user_may_weigh_a_hazard_otherwise() {
        let deductions = BTreeMap::from([("lost-update".parse().unwrap(), 40)]);
        assert_eq!(score(&[finding("lost-update", High, Both)], &deductions), 60);
        assert_eq!(score(&[finding("retry-storm", Low, Both)], &deductions), 96);
    }
}

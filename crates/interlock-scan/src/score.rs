//! The score: 100 less what the findings deduct.
//!
//! Each hazard deducts its amount once, plus a quarter of it per further site, at most twice the amount. A finding below its hazard's own
//! severity deducts at most 10 (medium) or 5 (low); one that only another process can reach counts half. What is suppressed or in the
//! baseline is no finding any more. The score is an integer, rounded half up, never below 0.
//!
//! A tree of which nothing was seen that callers can reach has no score: a hundred would be praise for what nobody has looked at.

use std::collections::BTreeMap;

use interlock_hazards::find;
use interlock_model::{Finding, HazardId, Rating, Reach, Severity};

/// Points in eighths: a half of a quarter is the smallest part.
const PARTS: u32 = 8;

/// What there was to judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// Files that were read.
    pub(crate) files: usize,
    /// Files that their front end gave up on.
    pub(crate) failed: usize,
    /// Tools that were found.
    pub(crate) tools: usize,
}

/// What the tree is worth, if there was something to judge.
pub(crate) fn rating(findings: &[Finding], deductions: &BTreeMap<HazardId, u8>, seen: &Seen) -> Rating {
    match *seen {
        Seen { files: 0, failed: 0, .. } => Rating::NotGraded(
            "no source file was read. Give the folder of a server's sources; `--show-files` lists what a scan reads".to_owned(),
        ),
        Seen { files: 0, failed, .. } => Rating::NotGraded(format!(
            "none of the {failed} source files could be read. The notes say why"
        )),
        Seen { files, tools: 0, .. } => {
            let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            Rating::NotGraded(format!(
                "no tool of an MCP server was found in {files}. Scan the folder that registers the tools together with what they \
                 call (`--show-files` lists what was read, and a file that is left out is read when it is named), or say in \
                 `interlock.toml` how they are registered, such as `[tools.call]` with `defineCommand = {{ registers = \"tool\", \
                 own = true }}`"
            ))
        }
        _ => Rating::Score(score(findings, deductions)),
    }
}

/// The score of what is reported. `deductions` are the user's own amounts, where they differ from the catalogue's.
#[must_use]
pub fn score(findings: &[Finding], deductions: &BTreeMap<HazardId, u8>) -> u8 {
    let mut sites: BTreeMap<&HazardId, Vec<u32>> = BTreeMap::new();
    for finding in findings {
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
    use interlock_model::{Confidence, Fingerprint, Location, Remedy, Witness};

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

    #[test]
    fn what_was_not_seen_is_not_graded() {
        let rated = |files, failed, tools| rating(&[], &BTreeMap::new(), &Seen { files, failed, tools });
        assert_eq!(rated(1, 0, 1), Rating::Score(100));
        for (seen, why) in [
            (rated(0, 0, 0), "no source file was read"),
            (rated(0, 3, 1), "none of the 3 source files could be read"),
            (rated(1, 0, 0), "no tool of an MCP server was found in 1 file."),
            (rated(2, 1, 0), "no tool of an MCP server was found in 2 files."),
        ] {
            assert!(seen.not_graded().unwrap().starts_with(why), "{seen:?}");
            assert_eq!((seen.score(), seen.grade()), (None, None));
        }
    }

    #[test]
    fn the_user_may_weigh_a_hazard_otherwise() {
        let deductions = BTreeMap::from([("lost-update".parse().unwrap(), 40)]);
        assert_eq!(score(&[finding("lost-update", High, Both)], &deductions), 60);
        assert_eq!(score(&[finding("retry-storm", Low, Both)], &deductions), 96);
    }
}

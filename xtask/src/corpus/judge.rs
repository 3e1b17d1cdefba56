//! A fact beside what was found.

use anyhow::Result;

use super::{
    facts::{Expected, Fact, Lines},
    scans::Scans,
};
use crate::{checkout, report::Finding};

/// How far from a line a finding may stand and still be about it.
const NEAR: u32 = 3;

/// A line of the table.
pub(super) struct Row {
    pub(super) expected: Expected,
    pub(super) hazard: String,
    pub(super) place: String,
    pub(super) got: String,
    pub(super) right: bool,
}

/// Scans the fact's commit and compares.
pub(super) fn judge(fact: &Fact, scans: &mut Scans) -> Result<Row> {
    let Fact { repository, commit, file, hazard, expected, .. } = fact;
    let short: String = commit.chars().take(8).collect();
    let row = |place: String, got: String, right| Row {
        expected: *expected,
        hazard: hazard.clone(),
        place,
        got,
        right,
    };
    let Some(checkout) = scans.checkout(repository) else {
        return Ok(row(format!("{repository} {short} {file}"), "there is no checkout".to_owned(), false));
    };
    let lines = match &fact.lines {
        Lines::At(first, last) => (*first, *last),
        Lines::From { commit: from, first, last } => {
            checkout::moved(&checkout, (from, commit), file, (*first, *last))?
        }
    };
    let findings = scans.of(&checkout, repository, commit)?;
    let about = about(&findings, hazard, file, lines, *expected);
    let got = match about {
        Some(line) => format!("{hazard} at line {line}"),
        None => others(&findings, file, lines),
    };
    let (first, last) = lines;
    let stretch = if first == last { first.to_string() } else { format!("{first}-{last}") };
    Ok(row(format!("{repository} {short} {file}:{stretch}"), got, about.is_some() == expected.reported()))
}

/// The line of a finding of this hazard that is about these lines. One that must be there may stand a little beside them, or name them in
/// its witness; one that must not be there is wrong only where it stands.
fn about(
    findings: &[Finding],
    hazard: &str,
    file: &str,
    (first, last): (u32, u32),
    expected: Expected,
) -> Option<u32> {
    let near = if expected.reported() { NEAR } else { 0 };
    let range = first.saturating_sub(near)..=last.saturating_add(near);
    let of_hazard = findings.iter().filter(|finding| finding.hazard == hazard);
    let places = of_hazard.flat_map(|finding| {
        let looked_at = if expected.reported() { finding.places.len() } else { 1 };
        finding.places.iter().take(looked_at)
    });
    places.filter(|(place, line)| place == file && range.contains(line)).map(|(_, line)| *line).next()
}

/// What else stands there.
fn others(findings: &[Finding], file: &str, (first, last): (u32, u32)) -> String {
    let range = first.saturating_sub(NEAR)..=last.saturating_add(NEAR);
    let mut names: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.places.iter().any(|(place, line)| place == file && range.contains(line)))
        .map(|finding| &*finding.hazard)
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { "nothing".to_owned() } else { format!("only {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Vec<Finding> {
        let places = [("a.ts", 10), ("b.ts", 40)].map(|(file, line)| (file.to_owned(), line));
        let (hazard, confidence) = ("lost-update".to_owned(), "high".to_owned());
        vec![Finding { hazard, confidence, tools: Vec::new(), places: places.to_vec() }]
    }

    #[test]
    fn what_must_be_found_may_stand_a_little_beside_or_in_the_witness() {
        let at = |file: &str, line| about(&found(), "lost-update", file, (line, line), Expected::Found);
        assert_eq!(at("a.ts", 13), Some(10));
        assert_eq!(at("a.ts", 14), None);
        assert_eq!(at("b.ts", 38), Some(40));
        assert_eq!(about(&found(), "retry-storm", "a.ts", (10, 10), Expected::Found), None);
    }

    #[test]
    fn what_must_not_be_found_is_wrong_only_where_it_stands() {
        let at = |file: &str, line| about(&found(), "lost-update", file, (line, line), Expected::Silent);
        assert_eq!(at("a.ts", 10), Some(10));
        assert_eq!(at("a.ts", 11), None);
        assert_eq!(at("b.ts", 40), None);
    }

    #[test]
    fn what_else_stands_there_is_told() {
        assert_eq!(others(&found(), "a.ts", (8, 8)), "only lost-update");
        assert_eq!(others(&found(), "a.ts", (20, 20)), "nothing");
    }
}

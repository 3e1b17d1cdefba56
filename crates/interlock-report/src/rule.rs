//! What a report has to know of a hazard beyond its findings.

use interlock_model::{HazardId, Severity};

/// A hazard as the catalogue describes it, brought by the caller: this crate does not know which hazards exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule<'r> {
    /// Its name.
    pub id: HazardId,
    /// The danger in one line.
    pub title: &'r str,
    /// What goes wrong, in a sentence.
    pub summary: String,
    /// Its page, in Markdown.
    pub page: &'r str,
    /// Where the page stands on the web, if it does.
    pub url: Option<String>,
    /// How bad it is at its worst.
    pub severity: Severity,
    /// Its entries in the Common Weakness Enumeration, the closest first.
    pub cwe: &'r [u16],
}

impl Rule<'_> {
    /// Where a hazard stands among the rules.
    pub(crate) fn position(rules: &[Self], hazard: &HazardId) -> Option<usize> {
        rules.iter().position(|rule| rule.id == *hazard)
    }

    /// A hazard's name and the danger in one line, if a rule describes it.
    pub(crate) fn headline(rules: &[Self], hazard: &HazardId, name: impl Fn(&str) -> String) -> String {
        let name = name(hazard.as_str());
        match rules.iter().find(|rule| rule.id == *hazard) {
            Some(rule) => format!("{name}: {}", rule.title),
            None => name,
        }
    }
}

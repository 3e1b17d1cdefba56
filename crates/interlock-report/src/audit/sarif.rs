//! An audit for code scanning services: one run for each server whose sources were looked at, with what was proven of each finding.

use super::{Audit, Standing};
use crate::{Rule, clean};

/// Writes an audit. What calls showed and no finding explains has no place in a file: it is a notification of its run.
#[must_use]
pub fn write(audit: &Audit, rules: &[Rule<'_>]) -> String {
    let runs = audit.subjects.iter().filter_map(|subject| {
        let mut report = subject.scan.clone()?;
        let proven = subject.entries();
        let proven = proven.iter().filter(|entry| entry.standing == Standing::ProvenOnly);
        report.coverage.notes.extend(proven.map(|entry| {
            let hazard = entry.hazard().map_or("race", |hazard| hazard.as_str());
            format!("proven only: {hazard}: {}: {}", entry.tools.join(" + "), clean::line(entry.message()))
        }));
        Some((report, subject.prefix.clone()))
    });
    crate::sarif::write_all(&runs.collect::<Vec<_>>(), rules)
}

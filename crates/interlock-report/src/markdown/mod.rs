//! Markdown, for the summary of a pull request or a ticket.

pub(crate) mod escape;

use std::fmt::Write as _;

use interlock_model::{Finding, Report};

use self::escape::{cell, code, fence, plain, sentence};
use crate::{Rule, command, summary};

/// Writes a report; `all` says whether findings of low confidence are shown and not only counted.
#[must_use]
pub fn write(report: &Report, rules: &[Rule<'_>], all: bool) -> String {
    let mut out = String::from("# Interlock\n\n");
    let _ = writeln!(out, "**{}**\n", plain(&summary::verdict(report)));
    let _ = writeln!(out, "{}", plain(&summary::coverage(report)));
    if let Some(folded) = summary::folded(report).filter(|_| !all) {
        let _ = writeln!(out, "\n{}", sentence(&folded, code));
    }
    let shown: Vec<&Finding> = report.findings.iter().filter(|finding| all || finding.counts()).collect();
    let (hardening, races): (Vec<&Finding>, Vec<&Finding>) =
        shown.into_iter().partition(|finding| finding.hardening.is_some());
    if !races.is_empty() {
        out.push_str("\n| # | severity | hazard | where | tools |\n|---|---|---|---|---|\n");
        for (number, finding) in (1..).zip(&races) {
            row(&mut out, number, finding);
        }
    }
    for (number, finding) in (1..).zip(&races) {
        section(&mut out, number, finding, rules);
    }
    if !hardening.is_empty() {
        out.push_str("\n## What would make the server bear more\n\n");
        for finding in hardening {
            let Finding { location, hazard, message, .. } = finding;
            let (place, name) = (code(&location.to_string()), code(hazard.as_str()));
            let bound = sentence(&summary::bound(finding), code);
            let _ = writeln!(out, "- {place}: {} ({name}). {bound}", sentence(message, code));
        }
    }
    let lost = summary::lost(report);
    if !lost.is_empty() {
        out.push_str("\n## Where the way was lost\n\n");
        for line in &lost {
            let _ = writeln!(out, "- {}", sentence(line, code));
        }
    }
    if !report.coverage.notes.is_empty() {
        out.push_str("\n## What was left out\n\n");
        for note in &report.coverage.notes {
            let _ = writeln!(out, "- {}", plain(note));
        }
    }
    out
}

fn row(out: &mut String, number: usize, finding: &Finding) {
    let Finding { severity, hazard, location, .. } = finding;
    let place = cell(&location.to_string());
    let tools = names(&finding.tools, cell);
    let _ = writeln!(out, "| {number} | {severity} | {} | {place} | {tools} |", code(hazard.as_str()));
}

fn names(names: &[String], form: impl Fn(&str) -> String) -> String {
    names.iter().map(|name| form(name)).collect::<Vec<_>>().join(", ")
}

fn section(out: &mut String, number: usize, finding: &Finding, rules: &[Rule<'_>]) {
    let Finding { severity, hazard, location, confidence, reach, .. } = finding;
    let _ = writeln!(out, "\n## {number}. {}\n", Rule::headline(rules, hazard, code));
    let _ = writeln!(out, "{}\n", sentence(&finding.message, code));
    let _ = writeln!(out, "- {} in {}", code(&location.to_string()), code(&finding.function));
    let _ = writeln!(out, "- severity {severity}, confidence {confidence}, reach {reach}");
    if !finding.tools.is_empty() {
        let _ = writeln!(out, "- reached by {}", names(&finding.tools, code));
    }
    if let Some(proof) = &finding.proof {
        let replay = proof.replay.as_deref().map(|file| format!("; {}", code(&command::replay(file))));
        let _ = writeln!(out, "- {}{}", summary::proof(proof), replay.unwrap_or_default());
    }
    if !finding.witness.0.is_empty() {
        out.push_str("\n| | call | step | where |\n|---|---|---|---|\n");
        for (number, step) in (1..).zip(&finding.witness.0) {
            let place = cell(&step.location.to_string());
            let _ = writeln!(out, "| {number} | {} | {} | {place} |", step.lane, sentence(&step.step, cell));
        }
    }
    let _ = writeln!(out, "\n**In the code**: {}", sentence(&finding.remedy.code, code));
    if !finding.remedy.policy.is_empty() {
        let policy = finding.remedy.policy.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let _ = writeln!(
            out,
            "\n**In front of the server**, as a policy of the guard:\n\n{}",
            fence("toml", &policy)
        );
    }
    let _ = writeln!(out, "\n<sub>fingerprint {}</sub>", code(&finding.fingerprint.0));
}

//! An audit for a pull request or a ticket.

use std::fmt::Write as _;

use interlock_model::Verdict;

use super::{Audit, Entry, Subject, beside, looked_at, tally};
use crate::{
    Rule,
    markdown::escape::{cell, code, fence, plain, sentence},
    summary,
};

/// Writes an audit.
#[must_use]
pub fn write(audit: &Audit, rules: &[Rule<'_>]) -> String {
    let mut out = String::from("# Interlock audit\n");
    for subject in &audit.subjects {
        one(&mut out, subject, rules);
    }
    if audit.stopped {
        out.push_str("\nStopped before it was done: this is what there is so far.\n");
    }
    out
}

fn one(out: &mut String, subject: &Subject, rules: &[Rule<'_>]) {
    let entries = subject.entries();
    let _ = writeln!(out, "\n## {}\n", plain(&subject.name));
    match &subject.scan {
        Some(report) => {
            let _ = writeln!(out, "**{}**\n", plain(&summary::verdict(report)));
        }
        None => out.push_str("**not graded: there are no sources to look at**\n\n"),
    }
    let _ = writeln!(out, "{}\n", plain(&tally(&entries)));
    for said in subject.origin.iter().cloned().chain(looked_at(subject)).chain(subject.notes.iter().cloned())
    {
        let _ = writeln!(out, "- {}", sentence(&said, code));
    }
    if !entries.is_empty() {
        out.push_str("\n| # | standing | severity | hazard | where | tools | behind the guard |\n|---|---|---|---|---|---|---|\n");
        for (number, entry) in (1..).zip(&entries) {
            row(out, number, entry, rules);
        }
    }
    for (number, entry) in (1..).zip(&entries) {
        section(out, number, entry, rules);
    }
    let tools = beside::tools(subject);
    if !tools.is_empty() {
        out.push_str("\n### What each tool is safe to be called beside\n\n| tool | broke beside | may break beside | held beside |\n|---|---|---|---|\n");
        let list = |names: &std::collections::BTreeSet<String>| {
            names.iter().map(|name| cell(name)).collect::<Vec<_>>().join(", ")
        };
        for (name, tool) in &tools {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                cell(name),
                list(&tool.breaks),
                list(&tool.may_break),
                list(&tool.held)
            );
        }
    }
    if let Some(policy) = subject.proved().and_then(|proved| proved.policy.as_ref()) {
        let _ = writeln!(
            out,
            "\n<details><summary>The suggested guard.toml</summary>\n\n{}\n</details>",
            fence("toml", policy)
        );
    }
}

fn row(out: &mut String, number: usize, entry: &Entry<'_>, rules: &[Rule<'_>]) {
    let place = entry.finding.map(|finding| cell(&finding.location.to_string())).unwrap_or_default();
    let tools = entry.tools.iter().map(|tool| cell(tool)).collect::<Vec<_>>().join(", ");
    let hazard = entry.hazard().map_or("race", |hazard| hazard.as_str());
    let behind = entry.behind.map(Verdict::name).unwrap_or_default();
    let _ = writeln!(
        out,
        "| {number} | {} | {} | {} | {place} | {tools} | {behind} |",
        entry.standing,
        entry.severity(rules),
        cell(hazard)
    );
}

fn section(out: &mut String, number: usize, entry: &Entry<'_>, rules: &[Rule<'_>]) {
    let title = match entry.hazard() {
        Some(hazard) => Rule::headline(rules, hazard, code),
        None => "a race".to_owned(),
    };
    let _ = writeln!(out, "\n### {number}. {title}\n\n{}", sentence(entry.message(), code));
    if let Some(finding) = entry.finding {
        let _ = writeln!(out, "\n{}: {}", code(&finding.location.to_string()), plain(&finding.function));
        if !finding.witness.0.is_empty() {
            let _ = writeln!(out, "\n{}", fence("text", &finding.witness.to_string()));
        }
        let _ = writeln!(out, "\nFix: {}", sentence(&finding.remedy.code, code));
        let policy: Vec<String> = finding.remedy.policy.iter().map(ToString::to_string).collect();
        if !policy.is_empty() {
            let _ = writeln!(out, "\n{}", fence("toml", &policy.join("\n")));
        }
    }
    for race in entry.races.iter().take(1) {
        let _ =
            writeln!(out, "\nShown on the live server: {} {}", race.verdict, sentence(&race.reason, code));
    }
}

//! An audit as one page: no script, nothing fetched, light and dark, for a screen of any width and for paper.
//!
//! The filter is a form whose choices the style sheet asks for, so that a page about sources that nobody vouched for runs nothing at all.

mod entry;
mod filter;
mod frame;
mod tools;

use std::fmt::Write as _;

use interlock_model::Verdict;

use self::filter::Filter;
use super::{Audit, Standing, Subject, looked_at, tally};
use crate::{
    Rule,
    proof::{Remedies, html as proof, markup, svg},
    summary,
};

/// What the page looks like, besides what it shares with that of a proof.
const STYLE: &str = include_str!("page.css");

/// Writes an audit.
#[must_use]
pub fn write(audit: &Audit, rules: &[Rule<'_>], remedies: &Remedies<'_>) -> String {
    let filter = Filter::of(audit, rules);
    let mut out = String::new();
    head(&mut out, audit, &filter);
    let mut number = 0;
    for (index, subject) in (1..).zip(&audit.subjects) {
        one(&mut out, index, subject, rules, remedies, &filter, &mut number);
    }
    out.push_str("</main></body></html>\n");
    out
}

fn head(out: &mut String, audit: &Audit, filter: &Filter) {
    let names: Vec<&str> = audit.subjects.iter().map(|subject| subject.name.as_str()).collect();
    let title = markup::short(&names.join(", "), 120);
    let _ = write!(
        out,
        r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="referrer" content="no-referrer"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>Interlock audit – {title}</title>
<style>
{}{}{STYLE}{}</style></head>
<body><a class="skip" href="#entries">Skip to the findings</a><main>
<header><p class="brand">Interlock · audit</p>
"##,
        proof::STYLE,
        svg::STYLE,
        filter.style(),
    );
    let proven =
        |subject: &Subject| subject.entries().iter().any(|entry| entry.standing != Standing::FoundOnly);
    let these = if audit.subjects.len() == 1 { "this server" } else { "one of these servers" };
    let verdict = if audit.subjects.iter().any(proven) {
        format!("Calls that run together break {these}")
    } else if audit.subjects.iter().any(Subject::has_hazards) {
        format!("Calls that run together may break {these}")
    } else if audit.subjects.iter().all(Subject::is_judged) {
        "Nothing was found that calls could break".to_owned()
    } else {
        format!("Not enough was seen to say whether calls break {these}")
    };
    let _ = writeln!(out, "<h1>{verdict}</h1>");
    if audit.stopped {
        out.push_str("<p class=\"outside\">Stopped before it was done: this is what there is so far.</p>\n");
    }
    if audit.subjects.len() > 1 {
        out.push_str("<nav aria-label=\"Servers\"><ol>");
        for (index, subject) in (1..).zip(&audit.subjects) {
            let _ = write!(
                out,
                r##"<li><a href="#server-{index}"><span>{}</span><span class="quiet">{}</span></a></li>"##,
                markup::short(&subject.name, 120),
                markup::text(&tally(&subject.entries()))
            );
        }
        out.push_str("</ol></nav>\n");
    }
    out.push_str("</header>\n");
    filter.write(out);
    out.push_str("<div id=\"entries\" tabindex=\"-1\"></div>\n");
}

fn one(
    out: &mut String,
    index: usize,
    subject: &Subject,
    rules: &[Rule<'_>],
    remedies: &Remedies<'_>,
    filter: &Filter,
    number: &mut usize,
) {
    let entries = subject.entries();
    let _ = write!(
        out,
        r#"<section class="server" id="server-{index}"><h2><span>{}</span></h2>"#,
        markup::text(&subject.name)
    );
    grade(out, subject);
    let _ = write!(out, "<p class=\"tally\">{}</p><ul class=\"looked\">", markup::text(&tally(&entries)));
    for said in subject.origin.iter().cloned().chain(looked_at(subject)).chain(subject.notes.iter().cloned())
    {
        let _ = write!(out, "<li>{}</li>", markup::sentence(&said));
    }
    out.push_str("</ul></section>\n");
    let mut standing = None;
    for entry in &entries {
        if standing != Some(entry.standing) {
            standing = Some(entry.standing);
            let count = entries.iter().filter(|other| other.standing == entry.standing).count();
            let name = capital(entry.standing.name());
            let _ = writeln!(
                out,
                r#"<h2 class="group {}">{name} <span class="quiet">{count}</span></h2>"#,
                entry.standing.word()
            );
        }
        *number += 1;
        entry::write(out, *number, entry, subject, rules, remedies, filter);
    }
    tools::write(out, index, subject);
    policy(out, subject);
    rest(out, subject);
}

fn grade(out: &mut String, subject: &Subject) {
    let Some(report) = &subject.scan else {
        out.push_str("<p class=\"grade\">not graded: there are no sources to look at</p>");
        return;
    };
    if let Some(grade) = report.rating.grade() {
        let class = format!("{grade}").to_lowercase();
        let _ = write!(
            out,
            r#"<p class="grade"><span class="letter grade-{class}">{grade}</span> {}</p>"#,
            markup::text(&summary::verdict(report))
        );
    } else {
        let _ = write!(out, "<p class=\"grade\">{}</p>", markup::text(&summary::verdict(report)));
    }
}

/// The configuration that was tried, to be copied.
fn policy(out: &mut String, subject: &Subject) {
    let Some(policy) = subject.proved().and_then(|proved| proved.policy.as_deref()) else { return };
    out.push_str("<section><h2>A policy for the guard</h2><p>Save it as <code>guard.toml</code> and put <code>interlock guard --config guard.toml</code> in the place of the server's command.</p><details><summary>Show it</summary>");
    frame::block(out, policy);
    out.push_str("</details></section>\n");
}

/// What would harden the server, where the way was lost, and what else was noted.
fn rest(out: &mut String, subject: &Subject) {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    if let Some(report) = &subject.scan {
        let hardening =
            report.findings.iter().filter(|finding| finding.hardening.is_some() && finding.counts());
        let hardening = hardening.map(|finding| {
            format!(
                "{}: {} [{}]. {}",
                finding.location,
                finding.message,
                finding.hazard,
                summary::bound(finding)
            )
        });
        said.push(("What would make the server bear more", hardening.collect()));
        said.push(("Where the way was lost", summary::lost(report)));
        said.push(("What was left out of the scan", report.coverage.notes.clone()));
    }
    if let Some(proved) = subject.proved() {
        let isolation = &proved.proof.isolation;
        let changed = isolation.changed.iter().map(|what| format!("CHANGED OUTSIDE: {what}"));
        let outside = changed.chain(isolation.said.iter().cloned()).chain(proved.proof.notes.iter().cloned());
        said.push(("What was left out of the proof", outside.collect()));
        if let Ok(behind) = &proved.behind {
            let sets = behind.sets.iter().filter(|set| set.verdict != Verdict::Held);
            let sets = sets.map(|set| format!("{}: {}: {}", set.set.name, set.verdict, set.reason));
            said.push((
                "What did not hold behind the guard",
                sets.chain(behind.notes.iter().cloned()).collect(),
            ));
        }
    }
    for (title, lines) in said.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = write!(out, "<section><details><summary>{title} ({})</summary><ul>", lines.len());
        for line in &lines {
            let _ = write!(out, "<li>{}</li>", markup::sentence(line));
        }
        out.push_str("</ul></details></section>\n");
    }
}

/// A name at the beginning of a line.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

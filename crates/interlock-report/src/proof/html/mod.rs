//! A proof as one page: no script, nothing fetched, light and dark, for a screen of any width and for paper.

mod outcome;
mod rows;
mod section;

use std::fmt::Write as _;

use interlock_model::{ProofReport, SetReport, Verdict};

pub(crate) use self::section::body;
use super::{Remedies, markup, svg, words};

/// What the page looks like, besides its pictures.
pub(crate) const STYLE: &str = include_str!("page.css");

/// Writes a report.
#[must_use]
pub fn write(report: &ProofReport, remedies: &Remedies<'_>) -> String {
    let mut out = String::new();
    head(&mut out, report);
    let mut sets: Vec<&SetReport> = report.sets.iter().collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.verdict));
    if sets.len() > 1 {
        contents(&mut out, &sets);
    }
    for (number, set) in (1..).zip(&sets) {
        section::write(&mut out, number, set, remedies);
    }
    if !report.notes.is_empty() {
        out.push_str("<section><h2>Notes</h2><ul>");
        for note in &report.notes {
            let _ = write!(out, "<li>{}</li>", markup::text(note));
        }
        out.push_str("</ul></section>\n");
    }
    learnt(&mut out, report);
    out.push_str("</main></body></html>\n");
    out
}

/// What was learnt of arguments, folded: who knows the server better finds here what to correct.
fn learnt(out: &mut String, report: &ProofReport) {
    if report.learnt.is_empty() {
        return;
    }
    out.push_str("<section><details><summary>What was learnt of arguments</summary><ul>");
    for learnt in &report.learnt {
        let _ = write!(out, "<li>{}", markup::text(&words::learnt(learnt)));
        if !learnt.refused.is_empty() {
            out.push_str("<ul>");
            for refused in words::refused(learnt) {
                let _ = write!(out, "<li>{}</li>", markup::text(&refused));
            }
            out.push_str("</ul>");
        }
        out.push_str("</li>");
    }
    out.push_str("</ul></details></section>\n");
}

fn head(out: &mut String, report: &ProofReport) {
    let headline = words::headline(report);
    let said = markup::text(headline.split_once(": ").map_or("", |(_, said)| said));
    let _ = write!(
        out,
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>{} – {}</title>
<style>
{STYLE}{}</style></head>
<body><main>
<header><p class="brand">Interlock · proof</p>
<h1>{} {said}</h1>
<p class="target"><code>{}</code></p>
{}<p class="quiet">tried {}; it took {}</p></header>
"#,
        report.verdict,
        markup::short(&report.target, 80),
        svg::STYLE,
        badge(report.verdict),
        markup::text(&report.target),
        isolation(report),
        markup::text(&words::explored(&report.explored)),
        words::time(report.took),
    );
}

/// What changed outside, and what was not refused.
fn isolation(report: &ProofReport) -> String {
    let line = |(is_loud, said): (bool, String)| {
        let class = if is_loud { "outside loud" } else { "outside" };
        format!("<p class=\"{class}\">{}</p>\n", markup::text(&said))
    };
    words::isolation(&report.isolation).into_iter().map(line).collect()
}

/// A verdict that is told by its sign and its word as well as by its colour.
pub(crate) fn badge(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Broken => "✕",
        Verdict::Latent => "◐",
        Verdict::Unknown => "?",
        Verdict::Held => "✓",
    };
    format!(r#"<span class="badge {verdict}"><span aria-hidden="true">{sign}</span> {verdict}</span>"#)
}

fn contents(out: &mut String, sets: &[&SetReport]) {
    out.push_str(r#"<nav aria-label="Sets of calls"><ol>"#);
    for (number, set) in (1..).zip(sets) {
        let _ = write!(
            out,
            r##"<li><a href="#set-{number}">{}<span>{}</span></a></li>"##,
            badge(set.verdict),
            markup::short(&words::name(&set.set), 120)
        );
    }
    out.push_str("</ol></nav>\n");
}

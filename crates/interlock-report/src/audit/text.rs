//! An audit for a terminal: what was found and proven, in a line or two each. The page has the rest.

use std::fmt::Write as _;

use interlock_model::Verdict;

use super::{Audit, Entry, Subject, looked_at, tally};
use crate::{
    Rule, clean, summary,
    text::{Look, ink::Ink, wrap},
};

/// Writes an audit.
#[must_use]
pub fn write(audit: &Audit, rules: &[Rule<'_>], look: Look) -> String {
    let mut out = String::new();
    for subject in &audit.subjects {
        one(&mut out, subject, rules, look);
    }
    if audit.stopped {
        out.push_str("stopped before it was done: this is what there is so far\n");
    }
    out
}

fn one(out: &mut String, subject: &Subject, rules: &[Rule<'_>], look: Look) {
    let ink = Ink::new(look.colour);
    let _ = writeln!(out, "{}", ink.strong(&clean::line(&subject.name)));
    for said in &subject.origin {
        indented(out, said, look);
    }
    let entries = subject.entries();
    for entry in &entries {
        line(out, entry, rules, look);
    }
    let score = subject.scan.as_ref().map(|report| {
        let line = summary::verdict(report);
        (line, report.rating.grade())
    });
    match score {
        Some((line, grade)) => {
            let options =
                wrap::options(look.width).initial_indent("  ").subsequent_indent("    ").break_words(false);
            for line in textwrap::wrap(&clean::line(&line), options) {
                let _ = writeln!(out, "{}", ink.grade(&line, grade));
            }
        }
        None => indented(out, "not graded: there are no sources to look at", look),
    }
    indented(out, &tally(&entries), look);
    for said in looked_at(subject) {
        indented(out, &said, look);
    }
    for note in &subject.notes {
        indented(out, note, look);
    }
    out.push('\n');
}

fn line(out: &mut String, entry: &Entry<'_>, rules: &[Rule<'_>], look: Look) {
    let ink = Ink::new(look.colour);
    let hazard = entry.hazard().map_or("race", |hazard| hazard.as_str());
    let place = match entry.finding {
        Some(finding) => finding.location.to_string(),
        None => entry.tools.join(" + "),
    };
    let behind = match entry.behind {
        None => "",
        Some(Verdict::Held) => "; held behind the guard",
        Some(Verdict::Unknown) => "; behind the guard nothing could be shown",
        Some(_) => "; not held behind the guard",
    };
    let head =
        format!("{}: {} {hazard}  {}{behind}", entry.standing, entry.severity(rules), clean::line(&place));
    let head = if entry.races.is_empty() { ink.strong(&head) } else { ink.alarm(&head) };
    let _ = writeln!(out, "  {head}");
    let text = clean::cut(&clean::line(entry.message()), 400);
    let options =
        wrap::options(look.width).initial_indent("    ").subsequent_indent("    ").break_words(false);
    let _ = writeln!(out, "{}", textwrap::fill(&text, options));
}

fn indented(out: &mut String, text: &str, look: Look) {
    let options = wrap::options(look.width).initial_indent("  ").subsequent_indent("    ").break_words(false);
    let _ = writeln!(out, "{}", textwrap::fill(&clean::line(text), options));
}

//! Text for people: the code in question, the interleaving in two columns, what to do about it, and the score.

mod frame;
pub(crate) mod ink;
mod lines;
mod patch;
mod witness;
pub(crate) mod wrap;

use std::fmt::Write as _;

use interlock_model::{Finding, Report};

pub use self::patch::patch;
use self::{frame::frame, ink::Ink, lines::Lines, witness::witness};
use crate::{clean, command, summary};

/// How a file's text is found by its path in the report; `None` if it is not at hand any more.
pub type Sources<'s> = dyn Fn(&str) -> Option<String> + 's;

/// How text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether colour is welcome.
    pub colour: bool,
    /// How many columns a line may take.
    pub width: usize,
    /// Whether findings of low confidence are shown and not only counted.
    pub all: bool,
}

/// Fewer columns than this cannot hold a line of code and its number.
const NARROWEST: usize = 40;

/// Beyond so many notes nobody reads on. The machine-readable formats have all of them.
const NOTES: usize = 12;

/// The same for tools that were not followed to the end.
const LOST: usize = 12;

/// Text on one line, in which what a terminal would obey is spelled out.
#[must_use]
pub fn line(text: &str) -> String {
    clean::line(text)
}

/// Writes a report.
#[must_use]
pub fn write(report: &Report, sources: &Sources<'_>, look: Look) -> String {
    let look = Look { width: look.width.max(NARROWEST), ..look };
    let mut lines = Lines::new(sources);
    let mut out = String::new();
    let shown = report.findings.iter().filter(|finding| look.all || finding.counts());
    let (hardening, races): (Vec<&Finding>, Vec<&Finding>) =
        shown.partition(|finding| finding.hardening.is_some());
    for finding in races {
        section(&mut out, finding, &mut lines, look);
    }
    for finding in &hardening {
        advice(&mut out, finding, look);
    }
    if !hardening.is_empty() {
        out.push('\n');
    }
    closing(&mut out, report, look);
    out
}

fn section(out: &mut String, finding: &Finding, lines: &mut Lines<'_>, look: Look) {
    let ink = Ink::new(look.colour);
    out.push_str(&frame(finding, lines, look));
    out.push('\n');
    let table = witness(finding, look);
    if !table.is_empty() {
        let _ = writeln!(out, "\n{table}\n");
    }
    let Finding { confidence, reach, .. } = finding;
    let mut facts = format!("{}, confidence {confidence}, reach {reach}", clean::line(&finding.function));
    if !finding.tools.is_empty() {
        let _ = write!(facts, ", tools {}", clean::line(&finding.tools.join(", ")));
    }
    paragraph(out, ink, "in", &facts, look);
    if let Some(proof) = &finding.proof {
        let mut words = summary::proof(proof).to_owned();
        if let Some(reason) = &proof.reason {
            let _ = write!(words, ": {}", clean::line(reason));
        }
        if let Some(replay) = &proof.replay {
            let _ = write!(words, "; {}", clean::line(&command::replay(replay)));
        }
        paragraph(out, ink, "proof", &words, look);
    }
    paragraph(out, ink, "fix", &clean::line(&finding.remedy.code), look);
    let policy: Vec<String> = finding.remedy.policy.iter().map(ToString::to_string).collect();
    for (index, line) in policy.iter().flat_map(|rule| rule.lines()).enumerate() {
        let label = if index == 0 { ink.strong("guard") } else { " ".repeat(5) };
        let _ = writeln!(out, "{label}  {}", clean::line(line));
    }
    out.push('\n');
}

/// What would make a server bear more, in one line: where, what, and what would bound it.
fn advice(out: &mut String, finding: &Finding, look: Look) {
    let ink = Ink::new(look.colour);
    let Finding { location, hazard, message, .. } = finding;
    let text = format!("harden: {location}: {message} [{}]. {}", hazard.as_str(), summary::bound(finding));
    let options = wrap::options(look.width).subsequent_indent("        ").break_words(false);
    let text = textwrap::fill(&clean::line(&text), options);
    let _ = writeln!(out, "{}{}", ink.strong("harden:"), text.strip_prefix("harden:").unwrap_or(&text));
}

/// A labelled paragraph: `fix    Hold one lock …`.
fn paragraph(out: &mut String, ink: Ink, label: &str, text: &str, look: Look) {
    let options = wrap::options(look.width.saturating_sub(7)).break_words(false);
    for (index, line) in textwrap::wrap(text, options).iter().enumerate() {
        let label = if index == 0 { ink.strong(&format!("{label:5}")) } else { " ".repeat(5) };
        let _ = writeln!(out, "{label}  {line}");
    }
}

fn closing(out: &mut String, report: &Report, look: Look) {
    let ink = Ink::new(look.colour);
    list(out, "note", &report.coverage.notes, ("note", NOTES), look);
    list(out, "lost", &summary::lost(report), ("tool", LOST), look);
    if let Some(folded) = summary::folded(report).filter(|_| !look.all) {
        let options = wrap::options(look.width).break_words(false);
        let _ = writeln!(out, "{}", textwrap::fill(&folded, options));
    }
    let options = wrap::options(look.width).break_words(false);
    for line in textwrap::wrap(&summary::verdict(report), options) {
        let _ = writeln!(out, "{}", ink.grade(&line, report.rating.grade()));
    }
    let options = wrap::options(look.width).break_words(false);
    let _ = writeln!(out, "{}", textwrap::fill(&summary::coverage(report), options));
}

/// Labelled lines, the first few of them.
fn list(out: &mut String, label: &str, lines: &[String], (noun, most): (&str, usize), look: Look) {
    let ink = Ink::new(look.colour);
    for line in lines.iter().take(most) {
        let text = format!("{label}: {}", clean::line(line));
        let options = wrap::options(look.width).subsequent_indent("      ").break_words(false);
        let _ = writeln!(out, "{}", ink.faint(&textwrap::fill(&text, options)));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(most) {
        let words =
            format!("{label}: {} more; `--format json` has all of them", summary::counted(more, noun));
        let _ = writeln!(out, "{}", ink.faint(&words));
    }
}

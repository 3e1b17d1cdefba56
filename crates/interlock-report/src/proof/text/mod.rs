//! A proof on a terminal: the verdict, a line for each set, and the whole story of each that breaks.

mod outcome;
mod story;
mod timeline;

use std::fmt::Write as _;

use interlock_model::{ProofReport, SetReport, Verdict};

use super::{Remedies, words};
use crate::{
    clean, summary,
    text::{Look, ink::Ink, wrap},
};

/// Fewer columns than this cannot hold a lane of the timeline.
const NARROWEST: usize = 40;

/// Beyond so many notes nobody reads on. JSON has all of them.
const NOTES: usize = 12;

/// Writes a report.
#[must_use]
pub fn write(report: &ProofReport, remedies: &Remedies<'_>, look: Look) -> String {
    let look = Look { width: look.width.max(NARROWEST), ..look };
    let ink = Ink::new(look.colour);
    let mut out = String::new();
    let headline = format!("{} ({})", clean::line(&words::headline(report)), words::time(report.took));
    let headline = textwrap::fill(&headline, wrap::options(look.width).subsequent_indent("  "));
    let _ = writeln!(out, "{}", ink.verdict(&headline, report.verdict));
    let indent = " ".repeat(2);
    let _ = writeln!(out, "{indent}{}", clean::cut(&clean::line(&report.target), look.width - indent.len()));
    for (is_loud, said) in words::isolation(&report.isolation) {
        let said = format!("{indent}{}", clean::line(&said));
        let said = textwrap::fill(&said, wrap::options(look.width).subsequent_indent("    "));
        let said = if is_loud { ink.verdict(&said, Verdict::Broken) } else { said };
        let _ = writeln!(out, "{said}");
    }
    for (index, set) in worst_first(report).enumerate() {
        if index == 0 {
            out.push('\n');
        }
        line(&mut out, set, look);
    }
    for set in worst_first(report).filter(|set| set.evidence.is_some()) {
        story::write(&mut out, set, remedies, look);
    }
    closing(&mut out, report, look);
    out
}

/// The sets with the worst first, else in the order they were tried.
fn worst_first(report: &ProofReport) -> impl Iterator<Item = &SetReport> {
    let mut sets: Vec<&SetReport> = report.sets.iter().collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.verdict));
    sets.into_iter()
}

/// `held     create_entities + read_graph: every outcome is one of 2; 48 calls, …`, broken where the line ends.
fn line(out: &mut String, report: &SetReport, look: Look) {
    let ink = Ink::new(look.colour);
    let hazard = report.set.hazard.as_ref().map(|hazard| format!(" [{hazard}]")).unwrap_or_default();
    let mut said = format!("{}{hazard}", words::name(&report.set));
    // The story of what breaks begins with it.
    if !report.reason.is_empty() && report.evidence.is_none() {
        let _ = write!(said, ": {}", report.reason);
    }
    if matches!(report.verdict, Verdict::Held | Verdict::Unknown) {
        let _ = write!(said, "; {}", words::explored(&report.explored));
    }
    let label = ink.verdict(&format!("{:9}", report.verdict), report.verdict);
    hanging(out, &label, 9, &clean::line(&said), look);
}

/// A label, and beside it text that stays beside it.
fn hanging(out: &mut String, label: &str, taken: usize, text: &str, look: Look) {
    let options = wrap::options(look.width.saturating_sub(taken).max(1));
    let lines = textwrap::wrap(text, options);
    for (index, line) in lines.iter().enumerate() {
        let before = if index == 0 { label } else { &" ".repeat(taken) };
        let _ = writeln!(out, "{}", format!("{before}{line}").trim_end());
    }
}

fn closing(out: &mut String, report: &ProofReport, look: Look) {
    let ink = Ink::new(look.colour);
    let _ = writeln!(out);
    // What the survey made up may be wrong in one word.
    if report.writers.is_some() && !report.sets.is_empty() {
        let text = "--format plan writes these calls down as they were learnt; --plan FILE takes them back with a line corrected";
        let options = wrap::options(look.width);
        let _ = writeln!(out, "{}", ink.faint(&textwrap::fill(text, options)));
    }
    // Only what somebody may want to correct: where all went well at once there is nothing.
    for learnt in report.learnt.iter().filter(|learnt| !learnt.refused.is_empty()).take(NOTES) {
        let refused = summary::counted(learnt.refused.len(), "call");
        let text = format!("learnt: {} ({refused} refused before)", clean::line(&words::learnt(learnt)));
        let options = wrap::options(look.width).subsequent_indent("      ");
        let _ = writeln!(out, "{}", ink.faint(&textwrap::fill(&text, options)));
    }
    for note in report.notes.iter().take(NOTES) {
        let text = format!("note: {}", clean::line(note));
        let options = wrap::options(look.width).subsequent_indent("      ");
        let _ = writeln!(out, "{}", ink.faint(&textwrap::fill(&text, options)));
    }
    if let Some(more @ 1..) = report.notes.len().checked_sub(NOTES) {
        let words = format!("note: {} more; `--format json` has all of them", summary::counted(more, "note"));
        let _ = writeln!(out, "{}", ink.faint(&words));
    }
    let tried = format!("tried {}", clean::line(&words::explored(&report.explored)));
    let _ = writeln!(out, "{}", textwrap::fill(&tried, wrap::options(look.width).subsequent_indent("  ")));
}

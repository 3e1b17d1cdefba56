//! The whole story of a set that breaks: the calls, when they met, what came of it, and what to do.

use std::fmt::Write as _;

use interlock_model::{Fault, PlannedCall, SetReport};

use super::{hanging, outcome, timeline};
use crate::{
    clean, command,
    proof::{Remedies, value, words},
    summary,
    text::{Look, ink::Ink},
};

/// More calls than this are counted.
const CALLS: usize = 8;

/// What the labels on the left take.
const LABEL: usize = 10;

pub(super) fn write(out: &mut String, report: &SetReport, remedies: &Remedies<'_>, look: Look) {
    let Some(evidence) = &report.evidence else { return };
    let ink = Ink::new(look.colour);
    let set = &report.set;
    let hazard = set.hazard.as_ref().map(|hazard| format!("[{hazard}]")).unwrap_or_default();
    let label = format!("{}{hazard}: ", report.verdict);
    let _ = writeln!(out);
    hanging(
        out,
        &ink.verdict(&label, report.verdict),
        clean::width(&label).min(look.width / 2),
        &clean::line(&if report.reason.is_empty() { words::name(set) } else { report.reason.clone() }),
        look,
    );
    let _ = writeln!(out);
    calls(out, "first", &set.setup, look);
    for (index, call) in set.calls.iter().enumerate().take(CALLS) {
        labelled(out, &format!("call {}", words::letter(index)), &planned(call), look);
    }
    more(out, set.calls.len(), look);
    match set.fault {
        Fault::None => {}
        Fault::Kill { after } => {
            labelled(
                out,
                "killed",
                &format!("{} after the calls, then started again", words::time(after)),
                look,
            );
        }
        Fault::Close { after } => {
            labelled(
                out,
                "closed",
                &format!("by the client {} after the calls, then started again", words::time(after)),
                look,
            );
        }
    }
    for (index, call) in set.reads.iter().enumerate().take(CALLS) {
        labelled(out, &format!("reads[{index}]"), &planned(call), look);
    }
    more(out, set.reads.len(), look);
    labelled(out, "met by", &words::schedule(&evidence.schedule), look);
    let _ = writeln!(out);
    timeline::write(out, set, evidence, look);
    outcome::write(out, set, evidence, look);
    for invariant in &evidence.violated {
        labelled(out, "not kept", invariant, look);
    }
    labelled(out, "again", &words::again(evidence.again), look);
    if let Some(file) = &evidence.replay {
        labelled(out, "replay", &command::replay(file), look);
    }
    match &set.hazard {
        Some(hazard) => {
            if let Some(remedy) = remedies(hazard) {
                labelled(out, "fix", &remedy, look);
            }
        }
        None => labelled(out, "hazard", words::NO_HAZARD, look),
    }
}

fn calls(out: &mut String, label: &str, calls: &[PlannedCall], look: Look) {
    for call in calls.iter().take(CALLS) {
        labelled(out, label, &planned(call), look);
    }
    more(out, calls.len(), look);
}

fn more(out: &mut String, count: usize, look: Look) {
    if let Some(more @ 1..) = count.checked_sub(CALLS) {
        labelled(out, "", &format!("and {}", summary::counted(more, "more call")), look);
    }
}

/// The tool and its arguments, cut where they are long: JSON has all of it.
fn planned(call: &PlannedCall) -> String {
    let mut said = call.tool.clone();
    if !call.arguments.is_null() {
        let _ = write!(said, " {}", value::compact(&call.arguments));
    }
    if !call.meta.is_null() {
        let _ = write!(said, " _meta {}", value::compact(&call.meta));
    }
    clean::cut(&clean::line(&said), 400)
}

fn labelled(out: &mut String, label: &str, text: &str, look: Look) {
    let ink = Ink::new(look.colour);
    hanging(out, &ink.strong(&format!("{label:LABEL$}")), LABEL, &clean::line(text), look);
}

//! One set of calls.

use std::fmt::Write as _;

use interlock_model::{Evidence, Fault, PlannedCall, SetReport};

use super::{badge, outcome};
use crate::{
    clean, command,
    proof::{Remedies, markup, scale::window, svg, value, words},
    summary,
};

/// Longer arguments are folded.
const LONG: usize = 160;

/// Longer arguments are cut: JSON has all of them.
const LONGEST: usize = 20_000;

/// More calls than this are counted.
const CALLS: usize = 16;

/// More operations than this are counted.
const TICKS: usize = 400;

pub(super) fn write(out: &mut String, number: usize, report: &SetReport, remedies: &Remedies<'_>) {
    let set = &report.set;
    let _ = write!(out, r#"<section id="set-{number}"><h2>{} "#, badge(report.verdict));
    let _ = write!(out, "<span>{}</span>", markup::short(&words::name(set), 300));
    if let Some(hazard) = &set.hazard {
        let _ = write!(out, r#" <code class="hazard">{hazard}</code>"#);
    }
    out.push_str("</h2>\n");
    body(out, number, report, remedies);
    out.push_str("</section>\n");
}

/// What a set is made of and what came of it, without a heading; the number makes what it names unique on the page.
pub(crate) fn body(out: &mut String, number: usize, report: &SetReport, remedies: &Remedies<'_>) {
    let set = &report.set;
    if !report.reason.is_empty() {
        let _ = writeln!(out, r#"<p class="reason">{}</p>"#, markup::text(&report.reason));
    }
    calls(out, report);
    if let Some(evidence) = &report.evidence {
        picture(out, number, report, evidence);
        outcome::write(out, set, evidence);
        facts(out, report, evidence, remedies);
    }
    let tried = words::explored(&report.explored);
    let _ = writeln!(out, r#"<p class="quiet">tried {}</p>"#, markup::text(&tried));
}

fn calls(out: &mut String, report: &SetReport) {
    let set = &report.set;
    out.push_str(r#"<dl class="calls">"#);
    list(out, &set.setup, |_| "first".to_owned());
    list(out, &set.calls, |index| format!("call {}", words::letter(index)));
    match set.fault {
        Fault::None => {}
        Fault::Kill { after } => {
            let after = words::time(after);
            let _ = write!(out, "<dt>killed</dt><dd>{after} after the calls, then started again</dd>");
        }
        Fault::Close { after } => {
            let after = words::time(after);
            let _ = write!(
                out,
                "<dt>closed</dt><dd>by the client {after} after the calls, then started again</dd>"
            );
        }
    }
    list(out, &set.reads, |index| format!("reads[{index}]"));
    out.push_str("</dl>\n");
}

fn list(out: &mut String, calls: &[PlannedCall], name: impl Fn(usize) -> String) {
    for (index, call) in calls.iter().enumerate().take(CALLS) {
        let _ = write!(out, "<dt>{}</dt><dd><b>{}</b> ", name(index), markup::short(&call.tool, 300));
        if !call.arguments.is_null() {
            json(out, &value::compact(&call.arguments));
        }
        if !call.meta.is_null() {
            out.push_str(" _meta ");
            json(out, &value::compact(&call.meta));
        }
        out.push_str("</dd>");
    }
    if let Some(more @ 1..) = calls.len().checked_sub(CALLS) {
        let _ = write!(out, "<dt></dt><dd>and {}</dd>", summary::counted(more, "more call"));
    }
}

/// A value on a line, folded if it is long.
fn json(out: &mut String, text: &str) {
    let text = clean::line(text);
    if clean::width(&text) <= LONG {
        let _ = write!(out, "<code>{}</code>", markup::text(&text));
    } else {
        let (short, whole) = (markup::short(&text, LONG / 2), markup::short(&text, LONGEST));
        let _ = write!(out, "<details><summary><code>{short}</code></summary><code>{whole}</code></details>");
    }
}

fn picture(out: &mut String, number: usize, report: &SetReport, evidence: &Evidence) {
    let Some(drawn) = svg::inline(&report.set, evidence, &format!("timeline-{number}")) else { return };
    let _ = writeln!(out, r#"<figure><div class="scroll" tabindex="0">{drawn}</div>"#);
    let _ = write!(out, "<figcaption>Met by: {}.", markup::text(&words::schedule(&evidence.schedule)));
    if let Some(stale) = window(evidence) {
        let said = words::stale(stale.call, stale.from, stale.to);
        let _ = write!(out, r#" <strong class="alarm">Stale: {}.</strong>"#, markup::text(&said));
    }
    out.push_str("</figcaption></figure>\n");
    operations(out, evidence);
}

/// The operations in the order of time.
fn operations(out: &mut String, evidence: &Evidence) {
    let ticks = &evidence.history.ticks;
    if ticks.is_empty() {
        return;
    }
    let count = summary::counted(ticks.len(), "operation");
    let _ = write!(
        out,
        r#"<details><summary>{count} underneath, in the order of time</summary><table class="ticks"><thead><tr>"#
    );
    for head in ["at", "call", "kind", "on"] {
        let _ = write!(out, r#"<th scope="col">{head}</th>"#);
    }
    out.push_str("</tr></thead><tbody>");
    for tick in ticks.iter().take(TICKS) {
        let call = tick.call.map_or_else(|| "?".to_owned(), words::letter);
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{call}</td><td>{}</td><td><code>{}</code></td></tr>",
            words::time(tick.at),
            tick.kind,
            markup::short(&tick.on, 300)
        );
    }
    out.push_str("</tbody></table>");
    if let Some(more @ 1..) = ticks.len().checked_sub(TICKS) {
        let _ = write!(out, "<p>and {}</p>", summary::counted(more, "more operation"));
    }
    out.push_str("</details>\n");
}

fn facts(out: &mut String, report: &SetReport, evidence: &Evidence, remedies: &Remedies<'_>) {
    out.push_str(r#"<dl class="facts">"#);
    for invariant in &evidence.violated {
        let invariant = markup::text(invariant);
        let _ = write!(out, r#"<dt>not kept</dt><dd class="alarm"><code>{invariant}</code></dd>"#);
    }
    let _ = write!(out, "<dt>again</dt><dd>{}</dd>", words::again(evidence.again));
    if let Some(file) = &evidence.replay {
        let _ = write!(out, "<dt>replay</dt><dd><code>{}</code></dd>", markup::text(&command::replay(file)));
    }
    match &report.set.hazard {
        Some(hazard) => {
            if let Some(remedy) = remedies(hazard) {
                let _ = write!(out, "<dt>fix</dt><dd>{}</dd>", markup::text(&remedy));
            }
        }
        None => {
            let _ = write!(out, "<dt>hazard</dt><dd>{}</dd>", markup::text(words::NO_HAZARD));
        }
    }
    out.push_str("</dl>\n");
}

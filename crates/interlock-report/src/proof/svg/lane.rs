//! One call: its name, a bar from request to answer, and its operations on the bar.

use std::fmt::Write as _;

use interlock_model::{Answer, CallRecord, IoTick, StaleWindow};

use super::marks;
use crate::{
    clean,
    proof::{markup, scale::Scale, words},
};

/// From one lane to the next.
pub(super) const PITCH: f64 = 58.0;

/// From the top of a lane to its bar, and the bar itself.
const ABOVE: f64 = 22.0;
const BAR: f64 = 24.0;

/// What the signs of request and answer take of a bar.
const REQUEST: f64 = 9.0;
const ANSWER: f64 = 6.5;

/// A bar is never shorter than its two ends.
const SHORTEST: f64 = 8.0;

/// The name of a tool takes at most so many columns.
const NAME: usize = 56;

pub(super) fn write(
    out: &mut String,
    scale: &Scale,
    top: f64,
    index: usize,
    call: &CallRecord,
    ticks: &[&IoTick],
    stale: Option<StaleWindow>,
) {
    let start = scale.at(call.sent);
    let end = call.answer.at().map(|at| scale.at(at).max(start + SHORTEST));
    let bar = top + ABOVE;
    let middle = bar + BAR / 2.0;
    let told = told(&words::letter(index), call);
    let _ = write!(out, r#"<g class="lane"><title>{}</title>"#, markup::short(&told, 400));
    let class = match call.answer {
        Answer::Result { .. } => "bar",
        Answer::Error { .. } => "bar failed",
        Answer::Missing { .. } => "bar open",
    };
    let right = end.unwrap_or_else(|| scale.end().max(start + SHORTEST));
    let _ = write!(
        out,
        r#"<rect class="{class}" x="{start:.1}" y="{bar:.1}" width="{:.1}" height="{BAR}" rx="4"/>"#,
        right - start
    );
    if let Some(stale) = stale {
        let (from, to) = (scale.at(stale.from), scale.at(stale.to));
        let _ = write!(
            out,
            r#"<rect class="trusting" x="{from:.1}" y="{bar:.1}" width="{:.1}" height="{BAR}"/>"#,
            (to - from).max(1.0)
        );
    }
    marks::write(out, scale, ticks, (start + REQUEST, end.map_or(right, |end| end - ANSWER)), (bar, BAR));
    // The ends are drawn last: no operation hides them.
    let _ = write!(
        out,
        r#"<path class="request" d="M{start:.1} {bar:.1}v{BAR}M{start:.1} {:.1}l7 5l-7 5z"/>"#,
        middle - 5.0
    );
    if let Some(end) = end {
        match call.answer {
            Answer::Error { .. } => {
                let _ = write!(
                    out,
                    r#"<path class="refusal" d="M{end:.1} {bar:.1}v{BAR}M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#,
                    end - 4.0,
                    middle - 4.0
                );
            }
            _ => {
                let _ = write!(out, r#"<path class="answer" d="M{end:.1} {bar:.1}v{BAR}"/>"#);
                let _ = write!(out, r#"<circle class="answer" cx="{end:.1}" cy="{middle:.1}" r="4.5"/>"#);
            }
        }
    }
    out.push_str("</g>");
}

/// The call's name above its bar. It is drawn over everything else: a break of the axis cuts bars, not names.
pub(super) fn name(out: &mut String, top: f64, index: usize, call: &CallRecord) {
    let _ = write!(
        out,
        r#"<text class="name" x="18" y="{:.1}"><tspan class="letter">{}</tspan><tspan dx="8">{}</tspan><tspan class="faint" dx="10">{}</tspan></text>"#,
        top + 15.0,
        words::letter(index),
        markup::short(&call.tool, NAME),
        ending(call)
    );
}

/// Operations of the server of which nobody knows for which call: on a line of their own.
pub(super) fn unclaimed(out: &mut String, scale: &Scale, top: f64, ticks: &[&IoTick]) {
    let (bar, left, right) = (top + ABOVE, scale.start(), scale.end());
    let _ = write!(
        out,
        r#"<g class="unclaimed"><path class="grid" d="M{left:.1} {:.1}H{right:.1}"/><text class="name" x="18" y="{:.1}"><tspan class="letter">?</tspan><tspan class="faint" dx="8">operations whose call is not known</tspan></text>"#,
        bar + BAR / 2.0,
        top + 15.0
    );
    marks::write(out, scale, ticks, (left, right), (bar, BAR));
    out.push_str("</g>");
}

/// `result after 3.10 ms`.
fn ending(call: &CallRecord) -> String {
    let how = words::answer(&call.answer);
    match call.answer.at() {
        Some(at) => format!("{how} after {}", words::time(at.saturating_sub(call.sent))),
        None => how.to_owned(),
    }
}

fn told(letter: &str, call: &CallRecord) -> String {
    let why = match &call.answer {
        Answer::Missing { reason } => format!(": {reason}"),
        _ => String::new(),
    };
    format!("{letter} {}, sent at {}, {}{why}", clean::line(&call.tool), words::time(call.sent), ending(call))
}

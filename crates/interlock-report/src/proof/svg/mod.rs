//! The calls of an illegal run in time, drawn: a lane for each, with its request, its answer and what it did underneath.
//!
//! The picture is told by shapes and letters as well as by colour, follows the reader's light or dark, and needs no script.

mod axis;
mod lane;
mod marks;

use std::fmt::Write as _;

use interlock_model::{CallSet, Evidence};

use super::{
    markup,
    scale::{Scale, interruption, window},
    words,
};
use crate::{clean, summary};

/// What the picture looks like. A page that shows several takes it once, and each of them without.
pub const STYLE: &str = include_str!("timeline.css");

/// In units of the picture; a page may show it at any size.
const WIDTH: f64 = 760.0;

/// Left and right of time.
const MARGIN: f64 = 18.0;

/// Above the lanes, for the axis.
const HEAD: f64 = 34.0;

/// What a break of the axis takes.
const GAP: f64 = 34.0;

/// More lanes than this are counted.
const LANES: usize = 16;

/// A picture that stands alone; nothing if nothing was recorded.
#[must_use]
pub fn write(set: &CallSet, evidence: &Evidence) -> Option<String> {
    draw(set, evidence, "timeline", Some(STYLE))
}

/// A picture for a page that has the [`STYLE`]; its id is the page's to choose.
#[must_use]
pub fn inline(set: &CallSet, evidence: &Evidence, id: &str) -> Option<String> {
    draw(set, evidence, id, None)
}

fn draw(set: &CallSet, evidence: &Evidence, id: &str, style: Option<&str>) -> Option<String> {
    let calls = &evidence.history.calls;
    if calls.is_empty() {
        return None;
    }
    let scale = Scale::of(set, evidence, MARGIN, WIDTH - MARGIN, GAP);
    let shown = calls.len().min(LANES);
    let hidden = calls.len() - shown;
    let unclaimed: Vec<_> = evidence
        .history
        .ticks
        .iter()
        .filter(|tick| tick.call.is_none_or(|call| call >= calls.len()))
        .collect();
    let lanes = shown + usize::from(!unclaimed.is_empty());
    let lane_top = |index: usize| HEAD + lane::PITCH * f64::from(u32::try_from(index).unwrap_or(u32::MAX));
    let bottom = lane_top(lanes);
    // Below the lanes: the stale window's words, then the legend.
    let mut foot = bottom + 6.0;
    let mut body = String::new();
    axis::write(&mut body, &scale, HEAD, bottom);
    if let Some(stale) = window(evidence) {
        foot += 16.0;
        axis::stale(&mut body, &scale, &stale, (HEAD, bottom), (foot, WIDTH));
    }
    for (index, call) in calls.iter().enumerate().take(shown) {
        let ticks: Vec<_> = evidence.history.ticks.iter().filter(|tick| tick.call == Some(index)).collect();
        let stale = window(evidence).filter(|stale| stale.call == index);
        lane::write(&mut body, &scale, lane_top(index), index, call, &ticks, stale);
    }
    axis::breaks(&mut body, &scale, HEAD, bottom);
    for (index, call) in calls.iter().enumerate().take(shown) {
        lane::name(&mut body, lane_top(index), index, call);
    }
    if !unclaimed.is_empty() {
        lane::unclaimed(&mut body, &scale, lane_top(shown), &unclaimed);
    }
    if let Some((at, word)) = interruption(set, evidence) {
        axis::interruption(&mut body, scale.at(at), word, HEAD, bottom);
    }
    if hidden > 0 {
        foot += 18.0;
        let more = summary::counted(hidden, "more call");
        let _ = write!(body, r#"<text class="faint" x="{MARGIN}" y="{foot:.1}">and {more}</text>"#);
    }
    foot += 26.0;
    marks::legend(&mut body, MARGIN, foot, evidence);
    let height = foot + 14.0;
    let (title, desc) = (words::name(set), describe(evidence));
    let mut out = String::new();
    let _ = write!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="timeline" viewBox="0 0 {WIDTH} {height:.1}" role="img" aria-labelledby="{id}-title {id}-desc">"#
    );
    let _ = write!(out, r#"<title id="{id}-title">{}</title>"#, markup::short(&title, 200));
    let _ = write!(out, r#"<desc id="{id}-desc">{}</desc>"#, markup::short(&desc, 2_000));
    if let Some(style) = style {
        let _ = write!(out, "<style>{style}</style>");
        let _ = write!(out, r#"<rect class="ground" width="{WIDTH}" height="{height:.1}"/>"#);
    }
    out.push_str(&body);
    out.push_str("</svg>");
    Some(out)
}

/// The picture in words, for those who cannot see it.
fn describe(evidence: &Evidence) -> String {
    let mut said = String::new();
    for (index, call) in evidence.history.calls.iter().enumerate().take(LANES) {
        let (name, tool, sent) = (words::letter(index), clean::cut(&call.tool, 60), words::time(call.sent));
        let end = call.answer.at().map(|at| format!(" at {}", words::time(at))).unwrap_or_default();
        let _ = write!(said, "Call {name}, {tool}: sent at {sent}, {}{end}. ", words::answer(&call.answer));
    }
    if let Some(stale) = window(evidence) {
        let _ = write!(said, "Stale: {}. ", words::stale(stale.call, stale.from, stale.to));
    }
    said.trim_end().to_owned()
}

//! Operations on a bar: `R` for a read, `W` for a write, a line for a wait. What would lie on top of each other becomes one mark
//! with numbers.

use std::fmt::Write as _;

use interlock_model::{Evidence, IoTick, TickKind};

use super::axis::CHARACTER;
use crate::proof::{markup, scale::Scale, words};

/// Between two marks.
const APART: f64 = 1.5;

/// A mark tells at most so many operations when it is pointed at.
const TOLD: usize = 12;

/// Reads and writes that are drawn as one.
struct Mark<'t> {
    ticks: Vec<&'t IoTick>,
    /// The sum of their positions, so that the mark stands in the middle.
    sum: f64,
}

impl Mark<'_> {
    fn count(&self, kind: TickKind) -> usize {
        self.ticks.iter().filter(|tick| tick.kind == kind).count()
    }

    fn label(&self) -> String {
        let word = |kind: TickKind, letter: &str| match self.count(kind) {
            0 => String::new(),
            1 => letter.to_owned(),
            more => format!("{letter}{more}"),
        };
        word(TickKind::Read, "R") + &word(TickKind::Write, "W")
    }

    fn middle(&self) -> f64 {
        self.sum / f64::from(u32::try_from(self.ticks.len().max(1)).unwrap_or(u32::MAX))
    }

    fn half(&self) -> f64 {
        let letters: f64 = self.label().chars().map(|c| if c == 'W' { 11.0 } else { 7.6 }).sum();
        (letters + 6.0) / 2.0
    }

    fn keep_between(&mut self, left: f64, right: f64) {
        let half = self.half();
        let middle = self.middle().min(right - half).max(left + half);
        self.sum = middle * f64::from(u32::try_from(self.ticks.len()).unwrap_or(u32::MAX));
    }

    fn overlaps(&self, next: &Self) -> bool {
        self.middle() + self.half() + APART > next.middle() - next.half()
    }
}

/// Draws operations between the ends of a bar.
pub(super) fn write(
    out: &mut String,
    scale: &Scale,
    ticks: &[&IoTick],
    ends: (f64, f64),
    (top, height): (f64, f64),
) {
    let waits = ticks.iter().filter(|tick| tick.kind == TickKind::Wait);
    let mut last = f64::NEG_INFINITY;
    for tick in waits {
        let x = scale.at(tick.at);
        if (x - last).abs() < 2.0 {
            continue;
        }
        last = x;
        let _ = write!(
            out,
            r#"<path class="wait" d="M{x:.1} {:.1}v{:.1}"><title>{}</title></path>"#,
            top + 3.0,
            height - 6.0,
            markup::short(&told(tick), 200)
        );
    }
    for mark in gathered(scale, ticks, ends) {
        let label = mark.label();
        let class = match (mark.count(TickKind::Read), mark.count(TickKind::Write)) {
            (_, 0) => "read",
            (0, _) => "write",
            _ => "both",
        };
        let (middle, half) = (mark.middle(), mark.half());
        let told: Vec<String> = mark.ticks.iter().take(TOLD).map(|tick| told(tick)).collect();
        let more = mark.ticks.len().saturating_sub(TOLD);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let _ = write!(
            out,
            r#"<g class="tick {class}"><title>{}{more}</title><rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="3"/><text x="{middle:.1}" y="{:.1}" text-anchor="middle">{label}</text></g>"#,
            markup::short(&told.join("; "), 1_000),
            middle - half,
            top + 4.0,
            half * 2.0,
            height - 8.0,
            top + height / 2.0 + 4.0,
        );
    }
}

/// Marks from left to right, of which none overlaps the next. What lies within a mark's width of an end moves beside it.
fn gathered<'t>(scale: &Scale, ticks: &[&'t IoTick], (left, right): (f64, f64)) -> Vec<Mark<'t>> {
    let mut moving: Vec<&IoTick> = ticks.iter().copied().filter(|tick| tick.kind != TickKind::Wait).collect();
    moving.sort_by_key(|tick| tick.at);
    let mut marks: Vec<Mark<'t>> = Vec::new();
    for tick in moving {
        let mut next = Mark { ticks: vec![tick], sum: scale.at(tick.at) };
        next.keep_between(left, right);
        // A mark grows when it takes another in, and may then reach the one before it.
        while let Some(before) = marks.pop_if(|before| before.overlaps(&next)) {
            let mut ticks = before.ticks;
            ticks.append(&mut next.ticks);
            next = Mark { ticks, sum: before.sum + next.sum };
            next.keep_between(left, right);
        }
        marks.push(next);
    }
    marks
}

fn told(tick: &IoTick) -> String {
    format!("{} at {}: {}", tick.kind, words::time(tick.at), tick.on)
}

/// What the shapes mean; only those that occur.
pub(super) fn legend(out: &mut String, left: f64, y: f64, evidence: &Evidence) {
    let has = |kind: TickKind| evidence.history.ticks.iter().any(|tick| tick.kind == kind);
    let failed = evidence
        .history
        .calls
        .iter()
        .any(|call| matches!(call.answer, interlock_model::Answer::Error { .. }));
    let mut x = left;
    let middle = y - 4.0;
    out.push_str(r#"<g class="legend">"#);
    let mut entry = |out: &mut String, shape: String, word: &str| {
        let _ = write!(out, r#"{shape}<text x="{:.1}" y="{y:.1}">{word}</text>"#, x + 20.0);
        x += 20.0 + CHARACTER * f64::from(u32::try_from(word.len()).unwrap_or(0)) + 18.0;
        x
    };
    let request =
        |x: f64| format!(r#"<path class="request" d="M{:.1} {:.1}l7 5l-7 5z"/>"#, x + 4.0, middle - 5.0);
    let mut at = entry(out, request(left), "request");
    let circle = |x: f64| format!(r#"<circle class="answer" cx="{:.1}" cy="{middle:.1}" r="4.5"/>"#, x + 8.0);
    at = entry(out, circle(at), "answer");
    if failed {
        let cross =
            format!(r#"<path class="refusal" d="M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#, at + 4.0, middle - 4.0);
        at = entry(out, cross, "error");
    }
    for (kind, wide, letter, word) in
        [(TickKind::Read, 13.6, "R", "read"), (TickKind::Write, 17.0, "W", "write")]
    {
        if has(kind) {
            let shape = format!(
                r#"<g class="tick {word}"><rect x="{:.1}" y="{:.1}" width="{wide}" height="15" rx="3"/><text x="{:.1}" y="{y:.1}" text-anchor="middle">{letter}</text></g>"#,
                at + 14.5 - wide,
                middle - 7.5,
                at + 14.5 - wide / 2.0
            );
            at = entry(out, shape, word);
        }
    }
    if has(TickKind::Wait) {
        let shape = format!(r#"<path class="wait" d="M{:.1} {:.1}v14"/>"#, at + 9.0, middle - 7.0);
        entry(out, shape, "wait");
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tick(at: u64, kind: TickKind) -> IoTick {
        IoTick { call: Some(0), at: Duration::from_micros(at), kind, on: String::new() }
    }

    #[test]
    fn marks_that_would_lie_on_each_other_become_one_with_numbers() {
        let ends = [0, 1_000].map(Duration::from_micros);
        let scale = Scale::new(ends, 0.0, 1_000.0, 0.0, true);
        let ticks = [
            tick(100, TickKind::Read),
            tick(101, TickKind::Write),
            tick(101, TickKind::Read),
            tick(112, TickKind::Write),
            tick(500, TickKind::Wait),
            tick(700, TickKind::Write),
        ];
        let ticks: Vec<&IoTick> = ticks.iter().collect();
        let labels: Vec<String> = gathered(&scale, &ticks, (0.0, 1_000.0)).iter().map(Mark::label).collect();
        assert_eq!(labels, ["R2W2", "W"]);
    }

    #[test]
    fn marks_never_overlap() {
        let ends = [0, 1_000].map(Duration::from_micros);
        let scale = Scale::new(ends, 0.0, 700.0, 0.0, true);
        for step in [1, 3, 7, 20, 90] {
            let ticks: Vec<IoTick> = (0..1_000)
                .step_by(step)
                .map(|at| tick(at, if at % 3 == 0 { TickKind::Write } else { TickKind::Read }))
                .collect();
            let ticks: Vec<&IoTick> = ticks.iter().collect();
            let marks = gathered(&scale, &ticks, (0.0, 1_000.0));
            assert_eq!(marks.iter().map(|mark| mark.ticks.len()).sum::<usize>(), ticks.len());
            assert!(marks.iter().zip(marks.iter().skip(1)).all(|(one, next)| !one.overlaps(next)));
        }
    }
}

//! The line of time above the lanes, and what lies across them: breaks, the stale window, the end of the server.

use std::{fmt::Write as _, time::Duration};

use interlock_model::StaleWindow;

use crate::proof::{markup, scale::Scale, words};

/// Marks of the axis are at least so far apart.
const APART: f64 = 70.0;

/// About what a character takes.
pub(super) const CHARACTER: f64 = 6.4;

/// The marks of the axis with lines through the lanes.
pub(super) fn write(out: &mut String, scale: &Scale, top: f64, bottom: f64) {
    let mut free = f64::NEG_INFINITY;
    for (moment, label) in marks(scale) {
        let x = scale.at(moment);
        let _ = write!(out, r#"<path class="grid" d="M{x:.1} {:.1}V{bottom:.1}"/>"#, top - 8.0);
        if x >= free {
            let (anchor, shift) = match x {
                ..40.0 => ("start", -2.0),
                ..725.0 => ("middle", 0.0),
                _ => ("end", 14.0),
            };
            let _ = write!(
                out,
                r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
                x + shift,
                top - 14.0,
                label
            );
            free = x + APART * 0.8;
        }
    }
}

/// Moments with their labels: the first of each even stretch, and round ones after it. A short stretch that lies far out counts from
/// its beginning, because its moments would all read the same.
fn marks(scale: &Scale) -> Vec<(Duration, String)> {
    let mut out = Vec::new();
    for (from, to) in scale.runs() {
        let room = ((scale.at(to) - scale.at(from)) / APART).floor();
        out.push((from, words::time(from)));
        if room < 1.0 {
            continue;
        }
        let length = (to - from).as_secs_f64();
        let step = round_step(length / room);
        let far = length < from.as_secs_f64() / 20.0;
        let first = if far { from.as_secs_f64() } else { (from.as_secs_f64() / step).floor() * step };
        for number in 1..=40 {
            let Ok(moment) = Duration::try_from_secs_f64(first + step * f64::from(number)) else { break };
            if moment > to {
                break;
            }
            if scale.at(moment) - scale.at(from) >= APART * 0.5 {
                let label =
                    if far { format!("+{}", words::time(moment - from)) } else { words::time(moment) };
                out.push((moment, label));
            }
        }
    }
    out
}

/// 1, 2 or 5 times a power of ten, at least as long as asked.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least)
        .unwrap_or(least)
}

/// Where time is left out: the lanes are cut, and the length is written above.
pub(super) fn breaks(out: &mut String, scale: &Scale, top: f64, bottom: f64) {
    for one in scale.breaks() {
        let (left, right) = (one.left + 8.0, one.right - 8.0);
        let _ = write!(out, r#"<g class="break"><title>{} left out</title>"#, words::time(one.lasts));
        let _ = write!(
            out,
            r#"<rect x="{left:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/>"#,
            top - 8.0,
            right - left,
            bottom - top + 8.0
        );
        for x in [left, right] {
            let mut line = format!("M{x:.1} {:.1}", top - 8.0);
            let mut y = top - 8.0;
            let mut side = 3.0;
            while y < bottom {
                y += 7.0;
                let _ = write!(line, "L{:.1} {:.1}", x + side, y.min(bottom));
                side = -side;
            }
            let _ = write!(out, r#"<path d="{line}"/>"#);
        }
        let middle = f64::midpoint(left, right);
        let _ = write!(
            out,
            r#"<text x="{middle:.1}" y="{:.1}" text-anchor="middle">{}</text></g>"#,
            bottom + 11.0,
            words::time(one.lasts)
        );
    }
}

/// The stale window across all lanes, its words below.
pub(super) fn stale(
    out: &mut String,
    scale: &Scale,
    stale: &StaleWindow,
    (top, bottom): (f64, f64),
    (words_at, width): (f64, f64),
) {
    let (left, right) = (scale.at(stale.from), scale.at(stale.to));
    let said = words::stale(stale.call, stale.from, stale.to);
    let _ = write!(out, r#"<g class="stale"><title>{}</title>"#, markup::text(&said));
    let _ = write!(
        out,
        r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}"/>"#,
        (right - left).max(1.0),
        bottom - top
    );
    let _ = write!(out, r#"<path d="M{left:.1} {top:.1}V{bottom:.1}M{right:.1} {top:.1}V{bottom:.1}"/>"#);
    let label = format!("stale: another call changed what {} had read", words::letter(stale.call));
    // Below the window, and held at the side that is nearer to an edge: how wide the words are drawn, the reader's font decides.
    let middle = f64::midpoint(left, right);
    let (x, anchor) = if middle > width * 0.6 {
        (right.min(width - 4.0), "end")
    } else if middle < width * 0.4 {
        (left.max(4.0), "start")
    } else {
        (middle, "middle")
    };
    let _ = write!(
        out,
        r#"<text x="{x:.1}" y="{words_at:.1}" text-anchor="{anchor}">{}</text></g>"#,
        markup::text(&label)
    );
}

/// When the server was killed, or its client went.
pub(super) fn interruption(out: &mut String, x: f64, word: &str, top: f64, bottom: f64) {
    let _ = write!(out, r#"<g class="ending"><path d="M{x:.1} {:.1}V{bottom:.1}"/>"#, top - 8.0);
    let anchor = if x > 700.0 { "end" } else { "start" };
    let shift = if x > 700.0 { -4.0 } else { 4.0 };
    let _ = write!(
        out,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">✕ {word}</text></g>"#,
        x + shift,
        top
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_axis_are_round() {
        let steps = [0.0007, 0.001, 0.0011, 0.3, 7.0].map(|least| format!("{:.4}", round_step(least)));
        assert_eq!(steps.join(" "), "0.0010 0.0010 0.0020 0.5000 10.0000");
    }

    #[test]
    fn an_axis_has_a_few_marks_and_never_many() {
        let scale = |millis: &[u64]| {
            Scale::new(millis.iter().map(|one| Duration::from_millis(*one)), 18.0, 742.0, 34.0, true)
        };
        for moments in [&[0, 1][..], &[0, 4, 5], &[0, 1, 3, 10_000], &[7, 1_000_000_007], &[3], &[]] {
            let count = marks(&scale(moments)).len();
            assert!(count <= 14, "{count} for {moments:?}");
            assert!(moments.len() < 2 || count >= 3, "{count} for {moments:?}");
        }
    }
}

//! Scores over time, drawn.

use std::fmt::Write as _;

use crate::jobs::Point;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;

/// The scores of audits, which come newest first, from left to right.
pub(super) fn chart(points: &[Point]) -> String {
    let scores: Vec<u8> = points.iter().rev().filter_map(|point| point.done.score).collect();
    if scores.len() < 2 {
        return String::new();
    }
    let step = (WIDTH - 40.0) / (scores.len() - 1) as f64;
    let at = |(index, score): (usize, &u8)| {
        (30.0 + index as f64 * step, HEIGHT - 15.0 - f64::from(*score) * (HEIGHT - 30.0) / 100.0)
    };
    let places: Vec<(f64, f64)> = scores.iter().enumerate().map(at).collect();
    let line: String = places.iter().fold(String::new(), |line, (x, y)| format!("{line}{x:.1},{y:.1} "));
    let first = scores.first().copied().unwrap_or_default();
    let last = scores.last().copied().unwrap_or_default();
    let mut out = format!(
        r#"<figure><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{} scores, from {first} to {last}">"#,
        scores.len()
    );
    for score in [0, 50, 100_u8] {
        let (_, y) = at((0, &score));
        let _ = write!(
            out,
            r#"<line class="grid" x1="30" x2="{}" y1="{y:.1}" y2="{y:.1}"/><text x="24" y="{:.1}" text-anchor="end">{score}</text>"#,
            WIDTH - 10.0,
            y + 4.0
        );
    }
    let _ = write!(out, r#"<polyline points="{}"/>"#, line.trim_end());
    for (x, y) in places {
        let _ = write!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
    }
    out.push_str("</svg><figcaption>Score over time, oldest first</figcaption></figure>");
    out
}

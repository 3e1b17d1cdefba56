//! What a benchmark prints: ours beside the peer's, with the peer's version, because a ratio without it cannot be repeated.

use std::fmt;

use crate::columns::{Side, columns};

/// The result of a benchmark.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

/// One quantity, measured on both sides.
pub(super) struct Row {
    pub(super) what: String,
    pub(super) unit: String,
    pub(super) ours: f64,
    pub(super) peer: Peer,
    /// What we want the ratio to be, in words; no more than a wish.
    pub(super) aim: Option<&'static str>,
}

/// The other side.
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) value: f64,
}

impl Row {
    /// Ours divided by the peer's.
    fn ratio(&self) -> f64 {
        self.ours / self.peer.value
    }

    fn cells(&self) -> Vec<String> {
        let value = |value: f64| format!("{value:.2} {}", self.unit);
        vec![
            self.what.clone(),
            value(self.ours),
            value(self.peer.value),
            if self.ratio().is_finite() { format!("{:.2}", self.ratio()) } else { "-".to_owned() },
            self.aim.unwrap_or("-").to_owned(),
            format!("{} {}", self.peer.name, self.peer.version),
        ]
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["what", "ours", "peer", "ours/peer", "aim", "the peer is"].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Left, Side::Left];
        f.write_str(&columns(&sides, &rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_stands_beside_the_peer_with_units_ratio_and_version() {
        let row = |what: &str, ours, value, aim| Row {
            what: what.to_owned(),
            unit: "ms".to_owned(),
            ours,
            peer: Peer { name: "rustc".to_owned(), version: "1.95.0".to_owned(), value },
            aim,
        };
        let table =
            Table { rows: vec![row("explain", 2.5, 10.0, Some("below 1")), row("empty", 1.0, 0.0, None)] };
        let expected = [
            "what        ours      peer  ours/peer  aim      the peer is",
            "explain  2.50 ms  10.00 ms       0.25  below 1  rustc 1.95.0",
            "empty    1.00 ms   0.00 ms          -  -        rustc 1.95.0",
            "",
        ];
        assert_eq!(table.to_string(), expected.join("\n"));
    }
}

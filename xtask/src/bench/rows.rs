//! What the programs that measure our crates say: one row a line, its cells apart by tabs.

use anyhow::{Context, Result, bail};

use super::table::{Peer, Row};

/// What a row's name starts with, and what its ratio shall be; the first that fits counts, and `-` is no wish at all.
pub(super) type Aims = [(&'static str, &'static str)];

/// A line of a program: what, ours, the peer's, who the peer is, the unit.
pub(super) fn row(program: &str, line: &str, aims: &Aims) -> Result<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[what, ours, value, peer, unit] = &*cells else {
        bail!("{program} said `{line}`, which is no row");
    };
    let number =
        |cell: &str| cell.parse::<f64>().with_context(|| format!("`{cell}` in `{line}` is no number"));
    let (name, version) = peer.rsplit_once(' ').unwrap_or((peer, ""));
    let aim = aims.iter().find(|(start, _)| what.starts_with(start)).map(|(_, aim)| *aim);
    Ok(Row {
        what: what.to_owned(),
        unit: unit.to_owned(),
        ours: number(ours)?,
        peer: Peer { name: name.to_owned(), version: version.to_owned(), value: number(value)? },
        aim: aim.filter(|aim| *aim != "-"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIMS: &Aims = &[("keyed lock, ", "at most 2")];

    #[test]
    fn a_line_becomes_a_row_with_its_aim() {
        let row = row("it", "keyed lock, a number\t30.5\t20\ttokio::sync::Mutex 1.54.1\tns", AIMS).unwrap();
        assert_eq!((row.ours, row.peer.value, row.aim), (30.5, 20.0, Some("at most 2")));
        assert_eq!((&*row.unit, &*row.peer.name, &*row.peer.version), ("ns", "tokio::sync::Mutex", "1.54.1"));
    }

    #[test]
    fn what_is_no_row_is_refused() {
        for line in ["", "a\t1\t2\tpeer 1", "a\tmuch\t2\tpeer 1\tns"] {
            assert!(row("it", line, AIMS).is_err(), "{line}");
        }
    }
}

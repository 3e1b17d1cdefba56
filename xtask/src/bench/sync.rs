//! The primitives and stores beside their peers. They are measured by `interlock-bench`, a program of its own, because this crate must
//! build when ours do not; here stands what we want the ratios to be.

use anyhow::{Context, Result, ensure};

use super::{
    program::release_program,
    table::{Peer, Row, Table},
};
use crate::{
    root::Root,
    run::{Run, cargo},
};

/// What a row's name starts with, and what its ratio shall be. The first that fits counts.
const AIMS: &[(&str, &str)] = &[
    ("keyed lock, ", "at most 2"),
    ("keyed lock beside ", "below 1"),
    ("rate limit, ", "at most 1"),
    ("gate + rate + permit", "at most 8"),
    ("replace a file", "at most 1.2"),
    ("SQLite FULL, ", "at least 10"),
    ("Redis: ", "at most 2"),
    ("PostgreSQL, ", "at least 5"),
];

/// Builds the program, runs it, and puts the aims beside what it says.
pub(super) fn run(root: &Root) -> Result<Table> {
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-bench"])?;
    let program = release_program(root, "interlock-bench")?;
    let said = Run::new(root, &program).text()?;
    let rows = said.lines().map(row).collect::<Result<Vec<_>>>()?;
    for (name, _) in AIMS {
        ensure!(rows.iter().any(|row| row.what.starts_with(name)), "interlock-bench measured no `{name}…`");
    }
    Ok(Table { rows })
}

/// A line of the program: what, ours, the peer's, who the peer is, the unit.
fn row(line: &str) -> Result<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[what, ours, value, peer, unit] = &*cells else {
        anyhow::bail!("interlock-bench said `{line}`, which is no row");
    };
    let number =
        |cell: &str| cell.parse::<f64>().with_context(|| format!("`{cell}` in `{line}` is no number"));
    let (name, version) = peer.rsplit_once(' ').unwrap_or((peer, ""));
    Ok(Row {
        what: what.to_owned(),
        unit: unit.to_owned(),
        ours: number(ours)?,
        peer: Peer { name: name.to_owned(), version: version.to_owned(), value: number(value)? },
        aim: AIMS.iter().find(|(start, _)| what.starts_with(start)).map(|(_, aim)| *aim),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_a_row_with_its_aim() {
        let row = row("keyed lock, a number\t30.5\t20\ttokio::sync::Mutex 1.54.1\tns").unwrap();
        assert_eq!((row.ours, row.peer.value, row.aim), (30.5, 20.0, Some("at most 2")));
        assert_eq!((&*row.unit, &*row.peer.name, &*row.peer.version), ("ns", "tokio::sync::Mutex", "1.54.1"));
    }

    #[test]
    fn what_is_no_row_is_refused() {
        for line in ["", "a\t1\t2\tpeer 1", "a\tmuch\t2\tpeer 1\tns"] {
            assert!(row(line).is_err(), "{line}");
        }
    }
}

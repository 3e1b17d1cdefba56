//! The primitives and stores beside their peers. They are measured by `interlock-bench`, a program of its own, because this crate must
//! build when ours do not; here stands what we want the ratios to be.

use anyhow::{Result, ensure};

use super::{program::release_program, rows, table::Table};
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
    let rows =
        said.lines().map(|line| rows::row("interlock-bench", line, AIMS)).collect::<Result<Vec<_>>>()?;
    for (name, _) in AIMS {
        ensure!(rows.iter().any(|row| row.what.starts_with(name)), "interlock-bench measured no `{name}…`");
    }
    Ok(Table { rows })
}

//! The guard beside no proxy and beside its peers, in front of the same server. They are measured by `guard-bench`, a program of its own,
//! because this crate must build when ours do not; here stands who takes part and what we want the ratios to be.

mod peers;

use std::fs;

use anyhow::{Context, Result, ensure};

use super::{program::release_program, rows, table::Table};
use crate::{
    root::Root,
    run::{Run, cargo},
    target_folder,
};

/// What a row's name starts with, and what its ratio shall be. The first that fits counts.
const AIMS: &[(&str, &str)] = &[
    ("HTTP to HTTP, p50 of one caller beside no proxy", "at most 2.5"),
    ("HTTP to HTTP, p50 of one caller beside the crate", "-"),
    ("HTTP to HTTP, processor time", "at most 0.6"),
    ("HTTP to HTTP, calls", "-"),
    ("HTTP to stdio, calls", "at least 15"),
    ("HTTP to stdio, processor time", "-"),
    ("idle memory", "ours at most 20 MB"),
    ("Redis, round trips", "1"),
    ("PostgreSQL, p50 of 64", "at most 3"),
    ("memory after the third crowd", "at most 1.1"),
];

/// Installs the peers, builds the programs, runs, and puts the aims beside what was measured.
pub(super) fn run(root: &Root) -> Result<Table> {
    let folder = target_folder::of(root)?.join("peers");
    let peers = peers::installed(root, &folder)?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-bench", "--bin", "guard-bench"])?;
    let list = folder.join("peers.json");
    let text = peers.list(&release_program(root, "interlock")?);
    fs::write(&list, text).with_context(|| format!("failed to write {}", list.display()))?;
    let program = release_program(root, "guard-bench")?;
    let said = Run::new(root, &program).args(["run", &list.display().to_string()]).text()?;
    let rows = said.lines().map(|line| rows::row("guard-bench", line, AIMS)).collect::<Result<Vec<_>>>()?;
    for (name, _) in AIMS {
        ensure!(rows.iter().any(|row| row.what.starts_with(name)), "guard-bench measured no `{name}…`");
    }
    Ok(Table { rows })
}

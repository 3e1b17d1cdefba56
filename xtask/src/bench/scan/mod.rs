//! A whole scan beside the parser alone, beside itself on one thread, beside the size of its sources, and beside Semgrep, all on the same
//! tree in the same run.

mod memory;
mod semgrep;
mod tree;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, Result, ensure};

use super::{
    program::release_program,
    sample::{Plan, interleave, milliseconds, wall_time_of},
    table::{Peer, Row, Table},
};
use crate::{
    root::Root,
    run::{Run, cargo},
};

const PLAN: Plan = Plan { warm_up: 1, rounds: 5 };

/// A scan that finds something ends in 1.
const FINE: &[i32] = &[0, 1];

/// Builds ours and the parser, then measures on a folder or on a tree that is made of our own examples.
pub(super) fn run(root: &Root, folder: Option<&Path>) -> Result<Table> {
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-lang", "--example", "parse"])?;
    let ours = release_program(root, "interlock")?;
    let parser = release_program(root, "examples/parse")?;
    let made = tempfile::tempdir().context("failed to make a folder for the tree")?;
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => tree::make(root, made.path())?,
    };
    // Both get the same files: a scan leaves tests and generated files out.
    let files = Run::new(root, &ours)
        .args(["scan".into(), "--show-files".into(), folder.to_string_lossy()])
        .quiet()
        .text()?;
    let list = made.path().join("files.txt");
    fs::write(&list, files).context("failed to write down the files")?;
    let said = Run::new(root, &parser).args([list.to_string_lossy()]).quiet().text()?;
    let numbers: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[files, bytes, _] = &*numbers else { anyhow::bail!("the parser said `{said}`") };
    ensure!(files > 0.0, "there is no TypeScript or JavaScript in {}", folder.display());
    eprintln!("{files} files, {:.1} MB", bytes / 1e6);

    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut rows = vec![
        beside_parser(&ours, &parser, &folder, &list)?,
        beside_itself(&ours, &folder, cores)?,
        memory(&ours, &folder, bytes)?,
    ];
    rows.push(beside_semgrep(root, &ours, &folder, made.path())?);
    Ok(Table { rows })
}

fn scan(ours: &str, folder: &Path, threads: usize) -> Command {
    let mut command = Command::new(ours);
    command.args(["scan", "--format", "json", "--threads", &threads.to_string()]).arg(folder);
    command
}

fn beside_parser(ours: &str, parser: &str, folder: &Path, list: &Path) -> Result<Row> {
    let medians = interleave(
        PLAN,
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
        || wall_time_of(Command::new(parser).arg(list), FINE),
    )?;
    Ok(row(
        "whole scan, one thread",
        ("ms", milliseconds(medians.ours)),
        ("oxc, parsing only, one thread", milliseconds(medians.peer)),
        "at most 3",
    ))
}

fn beside_itself(ours: &str, folder: &Path, cores: usize) -> Result<Row> {
    let medians = interleave(
        PLAN,
        || wall_time_of(&mut scan(ours, folder, cores), FINE),
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
    )?;
    Ok(row(
        &format!("whole scan, {cores} threads"),
        ("ms", milliseconds(medians.ours)),
        ("the same on one thread", milliseconds(medians.peer)),
        "falls with cores",
    ))
}

fn memory(ours: &str, folder: &Path, bytes: f64) -> Result<Row> {
    let peak = memory::peak(&mut scan(ours, folder, 1), FINE)?;
    Ok(row("peak memory", ("MB", peak / 1e6), ("the size of the sources", bytes / 1e6), "below 30"))
}

fn beside_semgrep(root: &Root, ours: &str, folder: &Path, scratch: &Path) -> Result<Row> {
    let semgrep: PathBuf = semgrep::install(root, scratch)?;
    let rules = semgrep::rules(scratch)?;
    let plan = Plan { warm_up: 0, rounds: 1 };
    let medians = interleave(
        plan,
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
        || wall_time_of(&mut semgrep::command(&semgrep, &rules, folder), FINE),
    )?;
    let peer = format!("Semgrep {}, one job, {} rules of ours", semgrep::VERSION, semgrep::RULES);
    Ok(row(
        "whole scan, one thread",
        ("ms", milliseconds(medians.ours)),
        (&peer, milliseconds(medians.peer)),
        "at most 0.02",
    ))
}

fn row(what: &str, (unit, ours): (&str, f64), (peer, value): (&str, f64), aim: &'static str) -> Row {
    Row {
        what: what.to_owned(),
        unit: unit.to_owned(),
        ours,
        peer: Peer { name: peer.to_owned(), version: String::new(), value },
        aim: Some(aim),
    }
}

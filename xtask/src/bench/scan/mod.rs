//! A whole scan beside the parser alone, beside itself on one thread, beside the size of its sources, beside Semgrep, and beside itself with
//! what an earlier scan has kept, all on the same trees in the same run. Below the rows stands where the time of a scan goes.

mod copy;
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

/// A scan that finds something ends in 1, one that finds no tool in 3.
const FINE: &[i32] = &[0, 1, 3];

/// What is measured.
struct Programs {
    ours: String,
    parser: String,
    phases: String,
    semgrep: PathBuf,
}

/// Builds ours and the parser, then measures on each of some folders, or on a tree that is made of our own examples.
pub(super) fn run(root: &Root, folders: &[PathBuf]) -> Result<String> {
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-lang", "--example", "parse"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-scan", "--example", "phases"])?;
    let made = tempfile::tempdir().context("failed to make a folder for the tree")?;
    let programs = Programs {
        ours: release_program(root, "interlock")?,
        parser: release_program(root, "examples/parse")?,
        phases: release_program(root, "examples/phases")?,
        semgrep: semgrep::install(root, made.path())?,
    };
    let folders = match folders {
        [] => vec![tree::make(root, made.path())?],
        given => given.to_vec(),
    };
    let mut told = String::new();
    for folder in &folders {
        told += &measure(root, &programs, folder)?;
    }
    Ok(told)
}

/// The rows of one tree.
fn measure(root: &Root, programs: &Programs, folder: &Path) -> Result<String> {
    let Programs { ours, parser, phases, semgrep } = programs;
    let made = tempfile::tempdir().context("failed to make a folder for lists and caches")?;
    // Both get the same files: a scan leaves tests and generated files out.
    let files = files_read(root, ours, folder)?;
    let list = made.path().join("files.txt");
    fs::write(&list, files).context("failed to write down the files")?;
    let said = Run::new(root, parser).args([list.to_string_lossy()]).quiet().text()?;
    let words: Vec<&str> = said.split_whitespace().collect();
    let &[files, bytes, lines, _, parsed_by] = &*words else { anyhow::bail!("the parser said `{said}`") };
    let (files, bytes): (usize, f64) = (files.parse()?, bytes.parse()?);
    ensure!(files > 0, "there is nothing in {} that a scan reads", folder.display());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let rows = vec![
        beside_parser(ours, (parser, parsed_by), folder, &list)?,
        beside_itself(ours, folder, cores)?,
        memory(ours, folder, bytes)?,
        beside_semgrep(ours, semgrep, folder, made.path())?,
        unchanged(ours, folder, made.path())?,
        one_changed(root, ours, folder, made.path())?,
    ];
    let phases = Run::new(root, phases).args([folder.to_string_lossy(), "1".into()]).quiet().text()?;
    Ok(format!(
        "{}: {files} files, {lines} lines, {:.1} MB\n{}one thread, ms of reading and lowering, linking, inlining and rules: {}\n\n",
        folder.display(),
        bytes / 1e6,
        Table { rows },
        phases.trim(),
    ))
}

/// The files of a folder that a scan reads, one in a line.
fn files_read(root: &Root, ours: &str, folder: &Path) -> Result<String> {
    Run::new(root, ours).args(["scan".into(), "--show-files".into(), folder.to_string_lossy()]).quiet().text()
}

/// A scan that neither uses nor keeps anything.
fn scan(ours: &str, folder: &Path, threads: usize) -> Command {
    let mut command = Command::new(ours);
    command.args(["scan", "--no-cache", "--format", "json", "--threads", &threads.to_string()]).arg(folder);
    command
}

/// A scan with a folder for what is kept.
fn keeping(ours: &str, folder: &Path, caches: &Path) -> Command {
    let mut command = Command::new(ours);
    command.args(["scan", "--format", "json", "--threads", "1"]).arg(folder).env("XDG_CACHE_HOME", caches);
    command
}

/// A second scan of the same files.
fn unchanged(ours: &str, folder: &Path, scratch: &Path) -> Result<Row> {
    let caches = scratch.join("caches");
    wall_time_of(&mut keeping(ours, folder, &caches), FINE)?;
    let medians = interleave(
        PLAN,
        || wall_time_of(&mut keeping(ours, folder, &caches), FINE),
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
    )?;
    let ours = ("ms", milliseconds(medians.ours));
    Ok(row("second scan, nothing changed", ours, (COLD, milliseconds(medians.peer)), "at most 0.25"))
}

/// A scan after a change in one file of a copy of the tree.
fn one_changed(root: &Root, ours: &str, folder: &Path, scratch: &Path) -> Result<Row> {
    let (caches, tree) = (scratch.join("caches-of-copy"), scratch.join("copy"));
    let read = |tree: &Path| Ok(files_read(root, ours, tree)?.lines().map(PathBuf::from).collect());
    let mut copy = copy::Copy::of(folder, &tree, read)?;
    wall_time_of(&mut keeping(ours, &tree, &caches), FINE)?;
    let medians = interleave(
        PLAN,
        || {
            copy.change_one()?;
            wall_time_of(&mut keeping(ours, &tree, &caches), FINE)
        },
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
    )?;
    let ours = ("ms", milliseconds(medians.ours));
    Ok(row("second scan, one file changed", ours, (COLD, milliseconds(medians.peer)), "at most 0.25"))
}

/// What second scans are measured against.
const COLD: &str = "a scan without a cache, one thread";

fn beside_parser(ours: &str, (parser, parsed_by): (&str, &str), folder: &Path, list: &Path) -> Result<Row> {
    let medians = interleave(
        PLAN,
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
        || wall_time_of(Command::new(parser).arg(list), FINE),
    )?;
    Ok(row(
        "whole scan, one thread",
        ("ms", milliseconds(medians.ours)),
        (&format!("{parsed_by}, parsing only, one thread"), milliseconds(medians.peer)),
        "at most 8",
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
    Ok(row("peak memory", ("MB", peak / 1e6), ("the size of the sources", bytes / 1e6), "at most 25"))
}

fn beside_semgrep(ours: &str, semgrep: &Path, folder: &Path, scratch: &Path) -> Result<Row> {
    let rules = semgrep::rules(scratch)?;
    let plan = Plan { warm_up: 0, rounds: 1 };
    let medians = interleave(
        plan,
        || wall_time_of(&mut scan(ours, folder, 1), FINE),
        || wall_time_of(&mut semgrep::command(semgrep, &rules, folder), FINE),
    )?;
    let peer = format!("Semgrep {}, one job, {} rules of ours", semgrep::VERSION, semgrep::RULES);
    Ok(row(
        "whole scan, one thread",
        ("ms", milliseconds(medians.ours)),
        (&peer, milliseconds(medians.peer)),
        "at most 0.025",
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

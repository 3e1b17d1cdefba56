//! `cargo xtask census`: real servers from npm and PyPI, by name and version, each audited with nothing but its command.
//!
//! Each is installed in a folder of its own below the target folder, without running scripts of packages, and audited: the scan and the proof
//! check each other. What was done is kept, so a run that was stopped goes on where it was. Which server breaks how stays in that folder, until
//! its author knows (SECURITY.md); what is committed are sums, dated, and the page that is made of them.

mod install;
mod list;
mod outcome;
mod page;
mod sums;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

pub(crate) use self::page::derive;
use self::{install::Installed, list::Server, outcome::Outcome, sums::Sums};
use crate::{
    columns::{Side, columns},
    report,
    root::Root,
    target_folder,
};

/// Where the list and the sums are, below the root.
pub(crate) const DATA: &str = "xtask/data/census";

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Census {
    /// Only servers with this in their name
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// No more than so many that have no outcome yet
    #[arg(long, value_name = "N")]
    most: Option<usize>,
    /// Audit also those that have an outcome already
    #[arg(long)]
    again: bool,
    /// How long each is proved
    #[arg(long, value_name = "TIME", default_value = "60s")]
    budget: String,
    /// Write the sums of all outcomes under this date, `2026-11-18`, and the page
    #[arg(long, value_name = "DATE")]
    sum: Option<String>,
    /// What the page says beside the sums: with what they were made, and on what machine
    #[arg(long, value_name = "WORDS", requires = "sum", default_value = "")]
    how: String,
    /// The program to run; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Audits what has no outcome yet, prints the table of all that have one, and writes the sums if that is wanted.
pub(crate) fn run(root: &Root, census: &Census) -> Result<()> {
    let servers = list::read(&root.read(&format!("{DATA}/servers.toml"))?)?;
    let folder = target_folder::of(root)?.join("census");
    let asked_for =
        |server: &&Server| census.only.as_ref().is_none_or(|words| server.package.contains(words.as_str()));
    let mut open: Vec<&Server> = servers.iter().filter(asked_for).collect();
    if !census.again {
        open.retain(|server| Outcome::kept(&place(&folder, server)).is_none());
    }
    open.truncate(census.most.unwrap_or(usize::MAX));
    if !open.is_empty() {
        let program = report::program(root, census.program.as_deref())?;
        for (at, server) in open.iter().enumerate() {
            eprintln!("{} of {}: {} {}", at + 1, open.len(), server.package, server.version);
            let place = place(&folder, server);
            // One that cannot be installed or started is an outcome too.
            let outcome = audit(root, server, &place, &program, &census.budget)
                .unwrap_or_else(|error| Outcome::not_started(format!("{error:#}")));
            outcome.keep(&place)?;
        }
    }
    let outcomes: Vec<(&Server, Outcome)> =
        servers.iter().filter_map(|server| Some((server, Outcome::kept(&place(&folder, server))?))).collect();
    ensure!(!outcomes.is_empty(), "no server has an outcome yet");
    print!("{}", table(&outcomes));
    let sums = Sums { how: census.how.clone(), ..Sums::of(servers.len(), &outcomes) };
    print!("{}", sums.words());
    if let Some(date) = &census.sum {
        root.write(&format!("{DATA}/{date}.json"), &sums.to_json()?)?;
        crate::generate::put(root, page::PATH, &derive(root)?)?;
    }
    Ok(())
}

fn place(folder: &Path, server: &Server) -> PathBuf {
    folder.join(format!("{}@{}", server.package.replace([':', '/'], "+"), server.version))
}

fn audit(root: &Root, server: &Server, place: &Path, program: &Path, budget: &str) -> Result<Outcome> {
    fs::create_dir_all(place).with_context(|| format!("failed to make {}", place.display()))?;
    let Installed { sources, command, environment } = install::install(root, server, place)?;
    let report = place.join(outcome::REPORT);
    // That of an earlier audit says nothing of this one.
    let _ = fs::remove_file(&report);
    let mut audit = Command::new(program);
    audit
        .arg("audit")
        .arg(&sources)
        .args(["--run", "--no-progress", "--budget", budget, "--output"])
        .arg(&report);
    for (name, value) in environment.iter().chain(&server.env) {
        audit.args(["--env", &format!("{name}={value}")]);
    }
    audit.arg("--").args(&command).args(&server.arguments).current_dir(place);
    let begin = Instant::now();
    let output = audit.stdin(Stdio::null()).output().context("the program could not be started")?;
    let took = begin.elapsed();
    ensure!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "the audit failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text = fs::read(&report).context("the audit wrote no report")?;
    let report: Value = serde_json::from_slice(&text).context("the audit wrote no JSON")?;
    outcome::read(&report, took).context("the audit wrote JSON of another form")
}

/// One line for each server.
fn table(outcomes: &[(&Server, Outcome)]) -> String {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
    let mut rows = vec![words(&[
        "server",
        "verdict",
        "writers",
        "listed",
        "found",
        "called",
        "races found",
        "proven",
        "both",
        "only found",
        "only proven",
        "held behind",
        "seconds",
        "why",
    ])];
    for (server, outcome) in outcomes {
        let numbers = [
            outcome.listed,
            outcome.found,
            outcome.called,
            outcome.races_found,
            outcome.proven,
            outcome.both,
            outcome.races_found.saturating_sub(outcome.both),
            outcome.proven.saturating_sub(outcome.both),
        ];
        let mut row = vec![
            format!("{}@{}", server.package, server.version),
            outcome.verdict.clone(),
            format!("{}/{}", outcome.writers_tried, outcome.writers_known),
        ];
        row.extend(numbers.iter().map(ToString::to_string));
        row.push(format!("{}/{}", outcome.held_behind, outcome.tried_behind));
        row.push(outcome.seconds.to_string());
        row.push(outcome.why.chars().take(100).collect());
        rows.push(row);
    }
    let mut sides = vec![Side::Left, Side::Left];
    sides.extend([Side::Right; 11]);
    sides.push(Side::Left);
    columns(&sides, &rows)
}

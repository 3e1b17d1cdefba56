//! `interlock scan`: where calls may get in each other's way, told from the sources.

pub(super) mod cache;
mod fix;
mod inspect;
mod listed;
#[cfg(target_os = "linux")]
mod live;
mod progress;
mod wanted;
pub(super) mod write;

use std::{num::NonZeroUsize, path::PathBuf};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use interlock_lang::Frontend;
use interlock_model::{Confidence, Severity};
use interlock_scan::{Request, Scanned, files, scan};

use self::{
    progress::Bar,
    wanted::{Hazards, language, wanted_hazards},
};
use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Find race conditions in the sources of an MCP server
#[derive(Args)]
#[command(
    after_help = "Examples:\n  interlock scan .\n  interlock scan --min-severity high --format sarif --output scan.sarif .\n  \
                  interlock scan --since origin/main --format github .\n  interlock scan --write-baseline baseline.json .\n\n\
                  A comment `interlock-ignore[HAZARD]: REASON` on or above a line silences a hazard there. `interlock.toml` in the \
                  scanned folder or above it, up to the root of its repository, says what is ignored, how bad hazards are, and what \
                  your own libraries do; the nearest one counts. `interlock explain` lists the hazards."
)]
struct Scan {
    /// Files and folders; a folder is scanned without its tests, installed packages, generated and ignored files
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to a file, whole or not at all, instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The configuration; by default the nearest `interlock.toml` from the scanned folder up to the root of its repository
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Leave out the findings that this file knows
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write down what is found now as known
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// As --baseline, and remove from the file what is no longer found
    #[arg(long, value_name = "FILE")]
    prune_baseline: Option<PathBuf>,
    /// Only findings that touch lines that have changed since this commit
    #[arg(long, value_name = "GIT-REF", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only these hazards, with commas between them, also those that the configuration turns off; `all` for all of them
    #[arg(long, value_name = "LIST", value_parser = wanted_hazards, conflicts_with_all = ["write_baseline", "prune_baseline"])]
    hazards: Option<Hazards>,
    /// Only files in this language; may be given more than once
    #[arg(long = "language", value_name = "L", value_parser = language, conflicts_with_all = ["write_baseline", "prune_baseline"])]
    languages: Vec<&'static dyn Frontend>,
    /// Only findings at least as bad: low, medium, high, critical
    #[arg(long, value_name = "S")]
    min_severity: Option<Severity>,
    /// Only findings at least as sure: low, medium, high
    #[arg(long, value_name = "C")]
    min_confidence: Option<Confidence>,
    /// Show findings of low confidence too; by default they are counted in one line, and JSON and SARIF have them
    #[arg(long)]
    all: bool,
    /// Repair in the files what can be repaired mechanically, then scan again
    #[arg(long)]
    fix: bool,
    /// Print the repairs as a diff instead of the report; without --fix nothing is changed
    #[arg(long)]
    diff: bool,
    /// Print the files that a scan would read, one on each line, and do nothing else
    #[arg(long, conflicts_with_all = ["fix", "diff", "format", "since", "baseline", "write_baseline", "prune_baseline", "min_severity", "min_confidence"])]
    show_files: bool,
    /// Print what is known about a line, and do nothing else: who gets there, what the rules say to it, where the analysis lost its way
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["dump_ir", "show_files", "fix", "diff", "since", "baseline", "write_baseline", "prune_baseline", "min_severity", "min_confidence"])]
    why: Option<String>,
    /// Print the steps of a function as the rules see them, and do nothing else: a name, Class.method, or FILE:LINE
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["show_files", "fix", "diff", "since", "baseline", "write_baseline", "prune_baseline", "min_severity", "min_confidence"])]
    dump_ir: Option<String>,
    /// With --dump-ir: put what a function calls in place of its calls
    #[arg(long, requires = "dump_ir")]
    inlined: bool,
    /// What the server has answered to `tools/list`, as JSON: say which of its tools were not found in the sources
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "show_files", "why", "dump_ir"])]
    tools: Option<PathBuf>,
    /// Start the server behind `--`, apart from your files and without network, ask it for its tools, and compare as --tools does
    #[arg(long, requires = "command", conflicts_with_all = ["show_files", "why", "dump_ir"])]
    live: bool,
    /// With --live: added to the server's environment
    #[arg(long = "env", value_name = "K=V", requires = "live")]
    env: Vec<String>,
    /// With --live: let the server have the network, and the services and sockets of this machine
    #[arg(long, requires = "live")]
    network: bool,
    /// Neither use nor keep what scans have found out; by default it is kept in the user's cache folder
    #[arg(long)]
    no_cache: bool,
    /// How many threads; as many as the machine has by default
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Whether to use colour
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    /// Show no progress, even on a terminal
    #[arg(long)]
    no_progress: bool,
    /// With --live: the server's command
    #[arg(value_name = "COMMAND", last = true, requires = "live")]
    command: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal, with code and witness
    Text,
    /// For programs
    Json,
    /// For code scanning services
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// For a document
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// On a terminal that wants it
    Auto,
    /// Also in a pipe or file
    Always,
    /// Not at all
    Never,
}

fn command() -> Command {
    Scan::augment_args(Command::new("scan"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let options = Scan::from_arg_matches(matches)?;
    if options.show_files {
        let files = files(&options.request())?;
        write::files(&options, &files, console)?;
        if files.is_empty() {
            nothing(console);
        }
        return Ok(if files.is_empty() { Exit::Nothing } else { Exit::Clean });
    }
    if let Some(answer) = inspect::answer(&options, console)? {
        write::put(&options, &answer, console)?;
        return Ok(Exit::Clean);
    }
    let listed = options.listed(console)?;
    let mut scanned = options.scan(listed.as_deref(), console)?;
    let mut fixes = Vec::new();
    if options.fix || options.diff {
        fixes = fix::plan(&scanned);
    }
    if options.fix && fix::apply(&fixes, &scanned, console)? {
        scanned = options.scan(listed.as_deref(), console)?;
    }
    options.remark(&scanned, console);
    if options.diff {
        write::diff(&options, &fixes, console)?;
    } else {
        write::output(&options, &scanned, console)?;
    }
    let Scanned { report, .. } = &scanned;
    Ok(if report.counted().next().is_some() {
        Exit::Found
    } else if report.rating.not_graded().is_some() {
        Exit::Nothing
    } else {
        Exit::Clean
    })
}

impl Scan {
    fn scan(&self, listed: Option<&[String]>, console: &Console) -> Result<Scanned> {
        let bar = Bar::new(console.errors_are_seen() && !self.no_progress);
        let request = Request { listed: listed.map(<[String]>::to_vec), ..self.request() };
        Ok(scan(&request, &bar)?)
    }

    /// What the server lists, if somebody wants to hold the sources against it.
    fn listed(&self, console: &mut Console) -> Result<Option<Vec<String>>> {
        if let Some(path) = &self.tools {
            return listed::read(path).map(Some);
        }
        if !self.live {
            return Ok(None);
        }
        #[cfg(target_os = "linux")]
        return live::listed(self, console).map(Some);
        #[cfg(not(target_os = "linux"))]
        anyhow::bail!(
            "--live runs on Linux only; {} was not started. Save what the server answers to `tools/list`, and give it with --tools",
            self.command.join(" ")
        )
    }

    fn request(&self) -> Request<'_> {
        Request {
            paths: self.paths.clone(),
            frontends: if self.languages.is_empty() { interlock_lang::ALL } else { &self.languages },
            hazards: self.hazards.as_ref().map(|Hazards(wanted)| wanted.clone()),
            threads: self.threads,
            config: self.config.clone(),
            baseline: self.baseline.clone(),
            write_baseline: self.write_baseline.clone(),
            prune_baseline: self.prune_baseline.clone(),
            cache: if self.no_cache { None } else { cache::cache() },
            since: self.since.clone(),
            min_severity: self.min_severity,
            min_confidence: self.min_confidence,
            listed: None,
        }
    }

    /// Says what happened beside the report.
    fn remark(&self, scanned: &Scanned, console: &mut Console) {
        if let (Some(count), Some(path)) = (scanned.written, &self.write_baseline) {
            console.remark(&format!("wrote {} to {}", findings(count), path.display()));
        }
        if let (Some(count), Some(path)) = (scanned.pruned, &self.prune_baseline) {
            console.remark(&format!("removed {} that are gone from {}", findings(count), path.display()));
        }
        if scanned.report.coverage.files == 0 {
            nothing(console);
        }
    }
}

/// Says that there is no source.
fn nothing(console: &mut Console) {
    let endings = interlock_lang::ALL.iter().flat_map(|language| language.extensions());
    let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    console.remark(&format!("nothing to check: no source is there; known are {}", endings.join(" ")));
}

/// `1 finding`, `2 findings`.
fn findings(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}

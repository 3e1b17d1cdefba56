//! `interlock audit`: scan, then prove where the server can be started, then the guard in front of it; one report.

mod consent;
mod demo;
#[cfg(target_os = "linux")]
mod live;
mod output;
mod run;
mod scanned;
mod steps;
mod wanted;

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Verb, prove::words};
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Look at an MCP server from all sides: what is found, what is proven, what stops it, in one report
#[derive(Args)]
#[command(
    after_help = "Examples:\n  interlock audit --demo\n  interlock audit . --run\n  interlock audit . --run -- node dist/index.js\n  \
                  interlock audit npm:@modelcontextprotocol/server-memory@2026.8.31 --run-untrusted\n  \
                  interlock audit github:OWNER/NAME/FOLDER@REF\n  interlock audit\n  \
                  interlock audit . --output audit.html --output audit.sarif --emit-policy guard.toml\n\n\
                  The server is started only with --run, or when you say so on a terminal. It runs as under `interlock prove`: in a folder of \
                  its own, without the network, and the kernel refuses it to write elsewhere. An interrupt ends the audit with the report of \
                  what is done so far; a second one ends it at once."
)]
struct Audit {
    /// A folder; an archive (.tar, .tar.gz, .tgz, .zip); a Git address (https, ssh, file; behind it #REF or #REF:FOLDER); github:OWNER/NAME, gitlab:…; npm:NAME@VERSION,
    /// pypi:NAME@VERSION; nothing for the servers that the MCP clients of this machine know
    #[arg(value_name = "TARGET", conflicts_with = "demo")]
    target: Option<String>,
    /// Start the server and call its tools
    #[arg(long)]
    run: bool,
    /// Start also what was downloaded
    #[arg(long)]
    run_untrusted: bool,
    /// Audit the servers that come with Interlock: a ledger that breaks under parallel calls, and a small server to read
    #[arg(long, conflicts_with_all = ["run", "run_untrusted", "command"])]
    demo: bool,
    /// Where the report goes: .html, .md, .json or .sarif by its ending; may be given more than once
    #[arg(long, value_name = "FILE", default_value = "interlock-audit.html")]
    output: Vec<PathBuf>,
    /// Write the suggested policy of the guard, which the races were tried behind
    #[arg(long, value_name = "FILE")]
    emit_policy: Option<PathBuf>,
    /// Added to the server's environment; {scratch} is a folder of its own for each instance
    #[arg(long = "env", value_name = "K=V")]
    env: Vec<String>,
    /// Let the server have the network, and the services and sockets of this machine
    #[arg(long)]
    network: bool,
    /// How long to prove, and to try what was proven again behind the guard, for which a third of it is kept; unless given, what fetching has left of
    /// 50 s, and between 24 s and 36 s
    #[arg(long, value_name = "TIME", value_parser = words::time)]
    budget: Option<Duration>,
    /// Show no progress, even on a terminal
    #[arg(long)]
    no_progress: bool,
    /// Say each step as a line of JSON on standard error, and end when standard input does: for `interlock serve`
    #[arg(long, hide = true)]
    for_worker: bool,
    /// What the target is called in the report
    #[arg(long, hide = true, value_name = "NAME", requires = "for_worker")]
    called: Option<String>,
    /// The server's command
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

fn command() -> Command {
    Audit::augment_args(Command::new("audit"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let options = Audit::from_arg_matches(matches)?;
    run::run(&options, console)
}

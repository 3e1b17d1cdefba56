//! `interlock serve`: audits for a team, as a page and an API.

#[cfg(target_os = "linux")]
mod run;

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Verb, prove::words};
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Serve audits to a team: a page and an API to ask for them, workers that do them, and what came of them
#[derive(Args)]
#[command(
    after_help = "Examples:\n  interlock serve\n  interlock serve --listen 0.0.0.0:8420 --host audits.example.com --tokens tokens.txt\n  \
                  interlock serve --state postgres://… --workers 0\n  interlock serve --state postgres://… --worker --workers 4\n\n\
                  Sources are fetched and read; nothing of them is ever run. The first line of output is the address. SIGTERM gives audits \
                  under way back to other workers, or to the next start."
)]
struct Serve {
    /// Where to listen; port 0 is any free one. Only this machine can reach it unless told otherwise
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8420")]
    listen: SocketAddr,
    /// Where audits are kept: sqlite:PATH, postgres://…, redis://… or memory:; a file in the user's state folder by default
    #[arg(long, value_name = "URL")]
    state: Option<String>,
    /// Only work: no page and no API
    #[arg(long)]
    worker: bool,
    /// How many audits are done at once in this process; 0 for a process that only answers
    #[arg(long, value_name = "N", default_value_t = 2)]
    workers: usize,
    /// A name that this server goes by; may be given more than once
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// A file with a line NAME=SECRET for everybody who may ask; without it, everybody may who can reach the address
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// A host that repositories are fetched from over https; may be given more than once, and replaces the list
    #[arg(long, value_name = "HOST", default_values = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"])]
    allow_host: Vec<String>,
    /// A host on the list, or of the package registry, whose addresses may be private
    #[arg(long, value_name = "HOST")]
    allow_private: Vec<String>,
    /// A folder below which file: addresses of repositories may lead
    #[arg(long, value_name = "DIR")]
    allow_files: Vec<PathBuf>,
    /// Fetch no packages
    #[arg(long)]
    no_packages: bool,
    /// How many audits each caller may ask for in an hour
    #[arg(long, value_name = "N", default_value = "60")]
    rate: NonZeroU32,
    /// How many audits of each caller may wait or be under way
    #[arg(long, value_name = "N", default_value = "10")]
    in_flight: NonZeroU32,
    /// How many requests of each caller are answered at once
    #[arg(long, value_name = "N", default_value = "32")]
    requests: NonZeroU32,
    /// How long an audit may take
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = words::time)]
    time: Duration,
    /// How large an archive may be, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 32)]
    upload: usize,
    /// How much an audit may download, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    download: u64,
    /// How much memory each process of an audit may have, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    memory: u64,
    /// For how many days past audits are kept
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    keep: u32,
    /// After how long a worker that says nothing is taken for dead
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = words::time, hide = true)]
    lease: Duration,
}

fn command() -> Command {
    Serve::augment_args(Command::new("serve"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let options = Serve::from_arg_matches(matches)?;
    #[cfg(target_os = "linux")]
    return run::run(&options, console);
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("serve runs on Linux only; nothing listens on {}", options.listen)
}

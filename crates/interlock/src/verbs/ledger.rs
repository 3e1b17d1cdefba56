//! `interlock ledger`: the reference MCP server, on stdio or Streamable HTTP.

#[cfg(target_os = "linux")]
mod serve;

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Serve the reference MCP server: accounts, orders, reports, documents and files, race-free or not
#[derive(Args)]
#[command(
    after_help = "Examples:\n  interlock ledger --seed\n  interlock ledger --unsafe --seed --listen 127.0.0.1:8080\n  \
                        interlock ledger --state sqlite:ledger.db --listen 0.0.0.0:8080 --token alice=SECRET\n\n\
                        Over HTTP the tools are at /mcp, and the first line of output is the URL. SIGTERM lets the calls under way \
                        finish, a second one does not."
)]
struct Ledger {
    /// Serve the naive twin of each tool, which breaks under parallel calls
    #[arg(long = "unsafe")]
    naive: bool,
    /// Make alice with 100 credits, bob with none, an order, a document and a file, where they are not there yet
    #[arg(long)]
    seed: bool,
    /// Where records are kept: memory:, sqlite:PATH, redis://… or postgres://…
    #[arg(long, value_name = "URL", default_value = "memory:")]
    state: String,
    /// Serve Streamable HTTP at this address instead of stdio; port 0 is any free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// A bearer token and whose it is; without one, only this machine may call
    #[arg(long = "token", value_name = "NAME=SECRET", requires = "listen")]
    tokens: Vec<String>,
    /// The folder of reports and users' files; beside a SQLite file by default, else a temporary one
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// The payment provider; one of its own by default
    #[arg(long, value_name = "URL")]
    payments: Option<String>,
    /// How many calls each caller may make in a minute
    #[arg(long, value_name = "N/min", default_value = "6000/min", value_parser = per_minute)]
    rate: u32,
    /// How many calls of each caller may be under way
    #[arg(long, value_name = "N", default_value = "64")]
    in_flight: NonZeroU32,
    /// How long a naive tool thinks between its check and its act, in milliseconds: by default about what a busy database takes
    #[arg(long, value_name = "MS", default_value_t = 20, hide = true)]
    think: u64,
    /// After how many milliseconds the payment provider's answer counts as lost
    #[arg(long, value_name = "MS", default_value_t = 5000, hide = true)]
    payment_timeout: u64,
    /// How many charges the ledger's own payment provider makes and does not answer
    #[arg(long, value_name = "N", default_value_t = 0, hide = true, conflicts_with = "payments")]
    lose_charges: u32,
    /// How many milliseconds the calls under way have to finish
    #[arg(long, value_name = "MS", default_value_t = 10_000, hide = true)]
    grace: u64,
}

fn command() -> Command {
    Ledger::augment_args(Command::new("ledger"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let ledger = Ledger::from_arg_matches(matches)?;
    #[cfg(target_os = "linux")]
    return serve::run(&ledger, console);
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!(
        "the ledger runs on Linux only, which can confine its files; {} was not started",
        ledger.state
    )
}

/// `N` or `N/min`.
fn per_minute(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("/min").unwrap_or(text);
    let rate = number.parse().ok().filter(|rate| *rate > 0);
    rate.ok_or_else(|| "a rate is a number of calls per minute, such as 60/min".into())
}

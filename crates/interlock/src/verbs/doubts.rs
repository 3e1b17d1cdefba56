//! `interlock doubts`: the calls of which nobody knows whether they took effect, listed and settled.

#[cfg(target_os = "linux")]
mod settle;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// List the calls in doubt of a guard's or a server's state, and settle them
#[derive(Args)]
#[command(after_help = "Examples:\n  interlock doubts --state sqlite:guard.db --namespace guard-bank\n  \
                  interlock doubts --state redis://localhost --namespace guard-bank --settle once:bank:pay:alice:o-17 \
                  --fence 1789 --as never-happened\n\n\
                  A call is in doubt when it was started and its process was gone before it had an answer. Its idempotency key is \
                  never run again by itself. Find out what became of it, and say so. Exits with 1 while something is in doubt.")]
struct Doubts {
    /// Where the state is: sqlite:PATH, redis://… or postgres://…
    #[arg(long, value_name = "URL")]
    state: String,
    /// The part of the state to look at: of a guard its `namespace`, which is by default `guard-` and the name of its first upstream
    #[arg(long, value_name = "NAME", default_value = "interlock")]
    namespace: String,
    /// Only keys that begin so
    #[arg(long, value_name = "PREFIX", default_value = "", conflicts_with = "settle")]
    under: String,
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "settle")]
    limit: usize,
    /// Settle the doubt about this key
    #[arg(long, value_name = "KEY", requires_all = ["fence", "resolution"])]
    settle: Option<String>,
    /// The fence that the list shows beside it: a doubt that has changed since is left alone
    #[arg(long, value_name = "FENCE", requires = "settle")]
    fence: Option<u64>,
    /// What became of the call
    #[arg(long = "as", value_enum, value_name = "HOW", requires = "settle")]
    resolution: Option<How>,
    /// The form of the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// It took effect: a call that comes again is not run, and is told to look at the state
    Happened,
    /// It did not: a call that comes again runs
    NeverHappened,
}

fn command() -> Command {
    Doubts::augment_args(Command::new("doubts"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let doubts = Doubts::from_arg_matches(matches)?;
    #[cfg(target_os = "linux")]
    return settle::run(&doubts, console);
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("the state of {} is read on Linux only", doubts.state)
}

//! `interlock completions`: what a shell needs to complete our command lines.

use std::io::Write;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use clap_complete::Shell;

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "For bash, for one session:\n  source <(interlock completions bash)")]
struct Completions {
    /// The shell
    shell: Shell,
}

fn command() -> Command {
    Completions::augment_args(Command::new("completions"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let Completions { shell } = Completions::from_arg_matches(matches)?;
    // Written whole, because the generator panics when its writer fails, and a closed pipe is no reason to.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "interlock", &mut script);
    console.write_all(&script)?;
    Ok(Exit::Clean)
}

//! The verbs: one file each. Adding one is a file and a line here; `cargo xtask gen` writes the list.

mod all;
mod given;

// verbs: begin
mod audit;
mod completions;
mod confine;
mod doubts;
mod explain;
mod guard;
mod ledger;
mod payment_provider;
mod prove;
mod scan;
mod serve;
// verbs: end

use anyhow::{Context, Result};
use clap::{ArgMatches, Command};

use self::all::ALL;
use crate::{console::Console, exit::Exit};

/// One verb: how it is called, and what it does.
struct Verb {
    /// Its command line, with its name.
    command: fn() -> Command,
    /// What it does with what was given.
    run: fn(&ArgMatches, &mut Console) -> Result<Exit>,
}

/// The command lines of all verbs.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    ALL.iter().map(|verb| (verb.command)())
}

/// Whether this build has a verb.
fn exists(name: &str) -> bool {
    commands().any(|command| command.get_name() == name)
}

/// Runs the verb that was given.
pub(crate) fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let (name, matches) = matches.subcommand().context("no verb was given; try `interlock --help`")?;
    let verb = ALL.iter().find(|verb| (verb.command)().get_name() == name);
    (verb.with_context(|| format!("there is no verb `{name}`; try `interlock --help`"))?.run)(
        matches, console,
    )
}

//! The `interlock` program: one file per verb.
//!
//! This is the only crate that prints, reads the environment or decides how the process ends; every other one takes what it needs
//! as an argument and returns what it found.

mod console;
#[cfg(target_os = "linux")]
mod ending;
mod exit;
mod memory;
mod terminal;
mod verbs;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use clap::Command;

use crate::{console::Console, exit::Exit};

fn main() -> ExitCode {
    let mut console = Console::of_this_process();
    let exit = match command().try_get_matches() {
        Ok(matches) => finish(verbs::run(&matches, &mut console), &mut console),
        Err(usage) if usage.use_stderr() => {
            console.complain_with(&usage.render());
            Exit::Failed
        }
        Err(help) => finish(
            console.write_styled(&help.render()).map(|()| Exit::Clean).map_err(Into::into),
            &mut console,
        ),
    };
    exit.into()
}

/// Writes out what is left and says how the process ends. Output that nobody reads to the end is no failure.
fn finish(outcome: Result<Exit>, console: &mut Console) -> Exit {
    let outcome = outcome.and_then(|exit| Ok(console.flush().map(|()| exit)?));
    outcome.unwrap_or_else(|error| {
        if reader_is_gone(&error) {
            return Exit::Clean;
        }
        console.complain(&error);
        Exit::Failed
    })
}

fn command() -> Command {
    Command::new("interlock")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Finds, proves and stops race conditions in MCP servers")
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(verbs::commands())
        .after_help(exit::HELP)
}

/// Whether what failed was only a write to somebody who has stopped reading, such as `head`.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }
}

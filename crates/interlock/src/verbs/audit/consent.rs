//! Whether a server may be started: somebody has to say so.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment is read and people are asked"
)]

use std::{
    env,
    io::{self, IsTerminal},
};

use super::{
    Audit,
    wanted::{Brings, Source, Wanted},
};
use crate::console::Console;

/// Whether it may be started, or why not. Asked only where a person can answer, and never in CI; of what is downloaded nobody is asked.
pub(super) fn consent(options: &Audit, wanted: &Wanted, console: &mut Console) -> Result<(), String> {
    if let Source::Fetched(_, Brings::Server) = wanted.source {
        let why = || wanted.start.as_ref().err().cloned().unwrap_or_default();
        return if options.run_untrusted { Ok(()) } else { Err(why()) };
    }
    let start = wanted.start.as_ref().map_err(Clone::clone)?;
    if start.is_ours || options.run || options.run_untrusted {
        return Ok(());
    }
    let command = start.command.join(" ");
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    if in_ci || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(format!("nobody has agreed to it: --run starts `{command}`"));
    }
    let network = if options.network { "with the network" } else { "without the network" };
    console.remark(&format!(
        "{}: start `{command}` and call its tools with made-up data, in a folder of its own, {network}? [y/N]",
        wanted.name
    ));
    let mut answer = String::new();
    if io::stdin().read_line(&mut answer).is_err() {
        return Err("there was no answer".to_owned());
    }
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err("it was declined".to_owned()) }
}

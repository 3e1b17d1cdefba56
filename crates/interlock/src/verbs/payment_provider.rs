//! `interlock payment-provider`: the other side of the ledger's orders, as a process of its own. Hidden: `interlock ledger` starts it, and
//! tests do.

#[cfg(target_os = "linux")]
use std::io::Write;
use std::net::SocketAddr;

#[cfg(target_os = "linux")]
use anyhow::Context;
use anyhow::Result;
use clap::{ArgMatches, Args, Command};
#[cfg(target_os = "linux")]
use {
    clap::FromArgMatches,
    interlock_ledger::payments,
    tokio::{net::TcpListener, runtime::Runtime},
};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Serve a payment provider that knows idempotency keys and can be told to misbehave
#[derive(Args)]
struct PaymentProvider {
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// End when standard input does, so that it does not outlive whoever holds the other end
    #[arg(long)]
    until_stdin_ends: bool,
    /// How many charges are made and not answered, from the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    drop_replies: u32,
}

fn command() -> Command {
    PaymentProvider::augment_args(Command::new("payment-provider")).hide(true)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &ArgMatches, _: &mut Console) -> Result<Exit> {
    anyhow::bail!("the payment provider belongs to the ledger, which runs on Linux only")
}

#[cfg(target_os = "linux")]
fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let PaymentProvider { listen, until_stdin_ends, drop_replies } =
        PaymentProvider::from_arg_matches(matches)?;
    let runtime = Runtime::new().context("failed to start")?;
    let outcome = runtime.block_on(async {
        let listener =
            TcpListener::bind(listen).await.with_context(|| format!("failed to listen on {listen}"))?;
        writeln!(console, "http://{}", listener.local_addr()?)?;
        console.flush()?;
        tokio::select! {
            served = payments::serve(listener, payments::Faults { drop_replies, ..payments::Faults::default() }) => Ok(served?),
            () = input_ends(), if until_stdin_ends => Ok(()),
        }
    });
    runtime.shutdown_background();
    outcome.map(|()| Exit::Clean)
}

#[cfg(target_os = "linux")]
async fn input_ends() {
    // What is sent is not for us; only that nobody can send any more.
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}

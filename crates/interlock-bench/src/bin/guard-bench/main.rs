//! What `cargo xtask bench guard` runs: one echo server, called directly, through the guard, and through its peers, in one run on one machine.
//!
//! `guard-bench echo [--stdio]` is the server; `guard-bench run PEERS.json` measures everything, or the parts that are named, and prints one row per line, its cells apart by tabs:
//! what, ours, the peer's, who the peer is, the unit. The aims stand in `xtask/src/bench/guard.rs`.

mod client;
mod contest;
mod crowd;
mod echo;
mod peers;
mod redis;
mod running;
mod stores;

use std::path::Path;

use anyhow::{Context, Result, bail};
use tokio::runtime::{Builder, Runtime};

#[expect(clippy::disallowed_methods, reason = "this is a program, and these are its arguments")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let started = "failed to start";
    match *words {
        ["echo", "--stdio"] => echo::stdio(),
        ["echo"] => Runtime::new().context(started)?.block_on(echo::http()),
        // One thread calls, so that what is measured is not how the callers' threads wake each other.
        ["run", peers, ref parts @ ..] => Builder::new_current_thread()
            .enable_all()
            .build()
            .context(started)?
            .block_on(run(Path::new(peers), parts)),
        _ => bail!("guard-bench echo [--stdio] | run PEERS.json [contest] [redis] [stores] [crowd]"),
    }
}

#[expect(clippy::print_stdout, reason = "the rows are what it is for")]
async fn run(path: &Path, parts: &[&str]) -> Result<()> {
    let peers = peers::Peers::read(path)?;
    let is_wanted = |part| parts.is_empty() || parts.contains(&part);
    let mut rows = Vec::new();
    if is_wanted("contest") {
        rows.extend(contest::run(&peers).await?);
    }
    if is_wanted("redis") {
        rows.extend(redis::run(&peers).await?);
    }
    if is_wanted("stores") {
        rows.extend(stores::run(&peers).await?);
    }
    if is_wanted("crowd") {
        rows.extend(crowd::run(&peers).await?);
    }
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

/// Says what is being done: the whole takes minutes.
#[expect(clippy::print_stderr, reason = "whoever waits for it reads it")]
fn progress(what: &str) {
    eprintln!("{what}");
}

/// One quantity, ours and the peer's.
struct Row {
    what: String,
    ours: f64,
    peer: f64,
    name: String,
    unit: &'static str,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, ours, peer, name, unit } = self;
        write!(f, "{what}\t{ours}\t{peer}\t{name}\t{unit}")
    }
}

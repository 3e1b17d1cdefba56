//! What `cargo xtask bench guard` runs: one echo server, called directly, through the guard, and through its peers, in one run on one machine.
//!
//! `guard-bench echo [--stdio]` is the server; `guard-bench run PEERS.json` measures, and prints one row per line, its cells apart by tabs:
//! what, ours, the peer's, who the peer is, the unit. The aims stand in `xtask/src/bench/guard.rs`.

mod client;
mod contest;
mod crowd;
mod echo;
mod peers;
mod redis;
mod running;

use std::path::Path;

use anyhow::{Context, Result, bail};

#[expect(clippy::disallowed_methods, reason = "this is a program, and these are its arguments")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new().context("failed to start")?;
    match *words {
        ["echo", "--stdio"] => echo::stdio(),
        ["echo"] => runtime.block_on(echo::http()),
        ["run", peers] => runtime.block_on(run(Path::new(peers))),
        _ => bail!("guard-bench echo [--stdio] | run PEERS.json"),
    }
}

#[expect(clippy::print_stdout, reason = "the rows are what it is for")]
async fn run(path: &Path) -> Result<()> {
    let peers = peers::Peers::read(path)?;
    for row in contest::run(&peers).await? {
        println!("{row}");
    }
    for row in redis::run(&peers).await? {
        println!("{row}");
    }
    for row in crowd::run(&peers).await? {
        println!("{row}");
    }
    Ok(())
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

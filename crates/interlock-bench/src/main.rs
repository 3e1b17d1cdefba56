//! What `cargo xtask bench sync` runs: each primitive and each store beside a peer, in one run on one machine. Prints one row per line,
//! its cells apart by tabs: what, ours, the peer's, who the peer is, the unit. The aims stand in `xtask/src/bench/sync.rs`.
//!
//! `interlock-bench memory files` runs only these parts.

mod admission;
mod file;
mod keyed;
mod memory;
mod postgres;
mod redis;
mod row;
mod sample;
mod sqlite;
mod versions;

use anyhow::{Context, Result, bail};

use self::row::Row;

/// A part of the run.
struct Part {
    name: &'static str,
    run: fn() -> Result<Vec<Row>>,
}

const PARTS: &[Part] = &[
    Part { name: "keyed", run: keyed::run },
    Part { name: "memory", run: memory::run },
    Part { name: "files", run: file::run },
    Part { name: "sqlite", run: sqlite::run },
    Part { name: "redis", run: redis::run },
    Part { name: "postgres", run: postgres::run },
];

#[expect(clippy::disallowed_methods, reason = "this is a program, and these are its arguments")]
#[expect(clippy::print_stdout, reason = "the rows are what it is for")]
fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        bail!("there is no part `{unknown}`; these there are: {}", known.join(", "));
    }
    for part in PARTS.iter().filter(|part| wanted.is_empty() || wanted.iter().any(|name| name == part.name)) {
        for row in (part.run)().with_context(|| format!("the part `{}` failed", part.name))? {
            println!("{row}");
        }
    }
    Ok(())
}

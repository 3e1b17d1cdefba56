//! A crowd that comes, waits in line and goes: the guard must not have grown afterwards.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::{Row, client::Client, peers::Peers, progress, running::Running};

/// So many callers are connected, each with a session.
const CALLERS: usize = 1_000;
/// So many calls wait in line at once, each on a connection of its own, as HTTP/1.1 wants it.
const QUEUED: usize = 10_000;
const ROUNDS: usize = 3;

pub(crate) async fn run(peers: &Peers) -> Result<Vec<Row>> {
    let echo = peers.echo()?;
    let guard = peers.narrow_guard(&echo.url)?;
    let mut after = Vec::new();
    for round in 1..=ROUNDS {
        progress(&format!("crowd {round} of {ROUNDS}"));
        crowd(&guard).await?;
        after.push(settled(&guard).await?);
    }
    let (first, last) =
        (after.first().copied().unwrap_or(f64::NAN), after.last().copied().unwrap_or(f64::NAN));
    Ok(vec![Row {
        what: "memory after the third crowd of 1,000 callers and 10,000 queued calls".to_owned(),
        ours: last,
        peer: first,
        name: "itself after the first".to_owned(),
        unit: "MB",
    }])
}

async fn crowd(guard: &Running) -> Result<()> {
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        callers.push(Client::connect(&guard.url).await?);
    }
    // The first call holds the lock until the others stand in line.
    let mut first = callers.first().context("there are callers")?.beside().await?;
    let mut waiting = JoinSet::new();
    waiting.spawn(async move { first.call("echo", r#"{"text":"x","ms":5000}"#).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    for number in 0..QUEUED {
        let mut client = callers.get(number % CALLERS).context("there are callers")?.beside().await?;
        waiting.spawn(async move { client.call("echo", r#"{"text":"x"}"#).await });
    }
    for ended in waiting.join_all().await {
        ended?;
    }
    for caller in callers {
        caller.leave().await?;
    }
    Ok(())
}

/// The memory once it does not shrink any more.
async fn settled(guard: &Running) -> Result<f64> {
    let mut least = guard.resident()?;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        least = least.min(guard.resident()?);
    }
    Ok(least)
}

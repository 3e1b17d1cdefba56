//! A crowd that comes, waits in line and goes: the guard must not have grown afterwards.

use anyhow::Result;
use tokio::task::JoinSet;

use crate::{Row, client::Client, peers::Peers, running::Running};

/// So many callers are connected, each with a session.
const CALLERS: usize = 1_000;
/// So many calls wait in line at once.
const QUEUED: usize = 10_000;
const ROUNDS: usize = 3;

pub(crate) async fn run(peers: &Peers) -> Result<Vec<Row>> {
    let echo = peers.echo()?;
    let guard = peers.narrow_guard(&echo.url)?;
    let mut after = Vec::new();
    for _ in 0..ROUNDS {
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
    let mut connected = Vec::new();
    for _ in 0..CALLERS {
        connected.push(Client::connect(&guard.url).await?);
    }
    let mut waiting = JoinSet::new();
    for number in 0..QUEUED {
        let url = guard.url.clone();
        // The first one holds the lock until the others stand in line.
        let arguments = if number == 0 { r#"{"text":"x","ms":5000}"# } else { r#"{"text":"x"}"# };
        let client = connected.pop();
        waiting.spawn(async move {
            let mut client = match client {
                Some(client) => client,
                None => Client::connect(&url).await?,
            };
            client.call("echo", arguments).await
        });
        if number == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
    for ended in waiting.join_all().await {
        ended?;
    }
    Ok(())
}

/// The memory once it does not shrink any more.
async fn settled(guard: &Running) -> Result<f64> {
    let mut least = guard.resident()?;
    for _ in 0..50 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        least = least.min(guard.resident()?);
    }
    Ok(least)
}

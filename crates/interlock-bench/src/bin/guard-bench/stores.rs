//! Many callers at once over PostgreSQL, beside the same over Redis: a call waits for the store, and for the calls before it in the store.
//!
//! All are one caller to the guard, so that they share what bounds a caller; each has a lock of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use interlock_testkit::service::{Postgres, Redis, Setup};
use tokio::task::JoinSet;

use crate::{Row, client::Client, peers::Peers, progress, running::Running};

const CALLERS: usize = 64;
const ROUNDS: usize = 3;
const SPELL: Duration = Duration::from_secs(3);

pub(crate) async fn run(peers: &Peers) -> Result<Vec<Row>> {
    // Both keep what they were told: the file is flushed with each write.
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() })?;
    let postgres = Postgres::start()?;
    let echo = peers.echo()?;
    let guards = [peers.guard(&echo.url, &postgres.url())?, peers.guard(&echo.url, &redis.url())?];
    let mut rounds = [Vec::new(), Vec::new()];
    for round in 1..=ROUNDS {
        progress(&format!("stores {round} of {ROUNDS}"));
        for (guard, times) in guards.iter().zip(&mut rounds) {
            times.push(median(crowd(guard).await?)?);
        }
    }
    let [ours, peer] = rounds.map(median);
    Ok(vec![Row {
        what: format!("PostgreSQL, p50 of {CALLERS} callers at once"),
        ours: ours?,
        peer: peer?,
        name: "Redis, appendfsync always".to_owned(),
        unit: "ms",
    }])
}

/// How long calls took, in ms, after the first second.
async fn crowd(guard: &Running) -> Result<Vec<f64>> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let mut client = Client::connect(&guard.url).await?;
        let stop = Arc::clone(&stop);
        callers.spawn(async move {
            let arguments = format!(r#"{{"text":"hello","key":"{caller}"}}"#);
            let mut times = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                client.call("echo", &arguments).await?;
                times.push((began, began.elapsed().as_secs_f64() * 1e3));
            }
            anyhow::Ok(times)
        });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    tokio::time::sleep(SPELL).await;
    stop.store(true, Ordering::Relaxed);
    let mut all = Vec::new();
    for times in callers.join_all().await {
        all.extend(times?.into_iter().filter(|(began, _)| *began >= start).map(|(_, took)| took));
    }
    Ok(all)
}

fn median(mut values: Vec<f64>) -> Result<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("nothing was measured")
}

//! Latency, throughput, processor time and memory: everybody in turn, several rounds, the median of each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::{Row, client::Client, peers::Peers, progress, running::Running};

const ROUNDS: usize = 5;
/// How long one side is measured in a round, for each figure.
const SPELL: Duration = Duration::from_millis(1500);
const CALLERS: usize = 16;

/// Somebody who is measured.
struct Side {
    running: Running,
    tool: &'static str,
    rounds: Vec<Figures>,
    /// Memory before anybody has called.
    idle: f64,
}

/// A figure of somebody.
type Of = fn(&Side) -> f64;

#[derive(Clone, Copy)]
struct Figures {
    /// Microseconds, of one caller.
    p50: f64,
    /// Calls a second, of many.
    throughput: f64,
    /// Microseconds of processor time for each call, of many.
    cpu: f64,
}

pub(crate) async fn run(peers: &Peers) -> Result<Vec<Row>> {
    let echo = peers.echo()?;
    let mut direct = Side::new(peers.echo()?, "echo")?;
    let mut guard = Side::new(peers.guard(&echo.url, "memory:")?, "echo")?;
    let mut crate_proxy = Side::new(peers.crate_proxy(&echo.url).await?, "e_echo")?;
    let mut child_guard = Side::new(peers.guard_of_a_child()?, "echo")?;
    let mut supergateway = Side::new(peers.supergateway().await?, "echo")?;
    let mut python = Side::new(peers.python().await?, "echo")?;
    for round in 0..ROUNDS {
        progress(&format!("round {} of {ROUNDS}", round + 1));
        let mut sides =
            [&mut direct, &mut guard, &mut crate_proxy, &mut child_guard, &mut supergateway, &mut python];
        // Who goes first changes, because everybody leaves the machine warmer than it was.
        sides.rotate_left(round % 6);
        for side in sides {
            side.measure().await?;
        }
    }
    let names = &peers.names;
    let row = |what: &str, unit, of: Of, ours: &Side, peer: &Side, name: &str| Row {
        what: what.to_owned(),
        ours: of(ours),
        peer: of(peer),
        name: name.to_owned(),
        unit,
    };
    let p50: Of = |side| side.median(|figures| figures.p50);
    let throughput: Of = |side| side.median(|figures| figures.throughput);
    let cpu: Of = |side| side.median(|figures| figures.cpu);
    let own = "the server itself, called directly";
    Ok(vec![
        row("HTTP to HTTP, p50 of one caller beside no proxy", "µs", p50, &guard, &direct, own),
        row(
            "HTTP to HTTP, p50 of one caller beside the crate",
            "µs",
            p50,
            &guard,
            &crate_proxy,
            &names.crate_proxy,
        ),
        row("HTTP to HTTP, processor time for a call", "µs", cpu, &guard, &crate_proxy, &names.crate_proxy),
        row(
            "HTTP to HTTP, calls of 16 callers beside the crate",
            "/s",
            throughput,
            &guard,
            &crate_proxy,
            &names.crate_proxy,
        ),
        row(
            "HTTP to stdio, calls of 16 callers beside npm",
            "/s",
            throughput,
            &child_guard,
            &supergateway,
            &names.supergateway,
        ),
        row(
            "HTTP to stdio, calls of 16 callers beside PyPI",
            "/s",
            throughput,
            &child_guard,
            &python,
            &names.python,
        ),
        row(
            "HTTP to stdio, processor time for a call beside npm",
            "µs",
            cpu,
            &child_guard,
            &supergateway,
            &names.supergateway,
        ),
        row(
            "HTTP to stdio, processor time for a call beside PyPI",
            "µs",
            cpu,
            &child_guard,
            &python,
            &names.python,
        ),
        Row {
            what: "idle memory".to_owned(),
            ours: guard.idle,
            peer: crate_proxy.idle,
            name: names.crate_proxy.clone(),
            unit: "MB",
        },
    ])
}

impl Side {
    fn new(running: Running, tool: &'static str) -> Result<Self> {
        let idle = running.resident()?;
        Ok(Self { running, tool, rounds: Vec::new(), idle })
    }

    async fn measure(&mut self) -> Result<()> {
        let p50 = self.one_caller().await?;
        let (throughput, cpu) = self.many_callers().await?;
        self.rounds.push(Figures { p50, throughput, cpu });
        Ok(())
    }

    async fn one_caller(&self) -> Result<f64> {
        let mut client = Client::connect(&self.running.url).await?;
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < SPELL || times.len() < 20 {
            let began = Instant::now();
            client.call(self.tool, r#"{"text":"hello","key":"one"}"#).await?;
            times.push(began.elapsed());
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        Ok(median.as_secs_f64() * 1e6)
    }

    async fn many_callers(&self) -> Result<(f64, f64)> {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let mut client = Client::connect(&self.running.url).await?;
            let (tool, stop, done) = (self.tool, Arc::clone(&stop), Arc::clone(&done));
            callers.spawn(async move {
                let arguments = format!(r#"{{"text":"hello","key":"{caller}"}}"#);
                while !stop.load(Ordering::Relaxed) {
                    client.call(tool, &arguments).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            });
        }
        // The first calls open connections and fill caches.
        tokio::time::sleep(SPELL / 4).await;
        let (start, before, cpu) = (Instant::now(), done.load(Ordering::Relaxed), self.running.cpu()?);
        tokio::time::sleep(SPELL).await;
        let (calls, spent) = (done.load(Ordering::Relaxed) - before, self.running.cpu()? - cpu);
        let took = start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        for ended in callers.join_all().await {
            ended?;
        }
        anyhow::ensure!(calls > 0, "{} answered nobody", self.running.url);
        let calls = calls as f64;
        Ok((calls / took, spent.as_secs_f64() * 1e6 / calls))
    }

    fn median(&self, of: fn(Figures) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rounds.iter().map(|figures| of(*figures)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

//! A process that serves while it is measured, and what the system says of it.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::client::Client;

/// Somebody who serves. Killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) url: String,
}

impl Running {
    /// Starts a program whose first line of output is its address.
    pub(crate) fn that_says_where(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{command:?} could not be started"))?;
        let output = child.stdout.take().context("it has an output")?;
        let mut running = Self { child, url: String::new() };
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut running.url)?;
        running.url = running.url.trim().to_owned();
        if running.url.is_empty() {
            bail!("{command:?} did not say where it listens; run it by hand to see why");
        }
        Ok(running)
    }

    /// Starts a program that listens where it was told, and waits until it lets somebody in.
    pub(crate) async fn at(mut command: Command, url: &str) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{command:?} could not be started"))?;
        let mut running = Self { child, url: url.to_owned() };
        let start = Instant::now();
        loop {
            match Client::connect(url).await {
                Ok(_) => return Ok(running),
                Err(error) if start.elapsed() > Duration::from_secs(60) => {
                    return Err(error.context(format!("{command:?} lets nobody in")));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            if let Some(status) = running.child.try_wait()? {
                bail!("{command:?} ended: {status}");
            }
        }
    }

    /// The time it has spent on processors, with that of its threads, without that of its children.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name may have spaces and parentheses, so what counts starts behind the last one.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        let (user, system) = (ticks(11).context("no time")?, ticks(12).context("no time")?);
        // The kernel tells times to processes in hundredths of a second, whatever it counts in.
        Ok(Duration::from_millis((user + system) * 10))
    }

    /// How much memory it occupies, in MB.
    pub(crate) fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(kib * 1024.0 / 1e6)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody uses just now.
pub(crate) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

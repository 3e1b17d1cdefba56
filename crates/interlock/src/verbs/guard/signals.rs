//! The signals that a guard listens to.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::ending::Ending;

/// What somebody outside wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To end; asked twice, now.
    End,
    /// To read the configuration again.
    Reload,
}

/// SIGTERM, SIGINT and SIGHUP.
pub(super) struct Signals {
    ending: Ending,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self> {
        let hang_up = signal(SignalKind::hangup()).context("failed to listen to signals")?;
        Ok(Self { ending: Ending::new()?, hang_up })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Wanted {
        tokio::select! {
            () = self.ending.asked() => Wanted::End,
            _ = self.hang_up.recv() => Wanted::Reload,
        }
    }

    /// The next one that asks to end.
    pub(super) async fn end(&mut self) {
        while self.next().await != Wanted::End {}
    }
}

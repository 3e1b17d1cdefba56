//! The signals that ask the program to end. Listened to before anything is started, so that none comes too early to be heard.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, and SIGHUP for those to whom it does not mean something else.
pub(crate) struct Ending {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Option<Signal>,
}

impl Ending {
    /// Listens from now on. Needs a runtime.
    pub(crate) fn new() -> Result<Self> {
        let (terminate, interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hang_up: None })
    }

    /// The same, and when the terminal goes.
    pub(crate) fn with_terminal() -> Result<Self> {
        Ok(Self { hang_up: Some(listen(SignalKind::hangup())?), ..Self::new()? })
    }

    /// The next one.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = next(self.hang_up.as_mut()) => {}
        }
    }
}

fn listen(kind: SignalKind) -> Result<Signal> {
    signal(kind).context("failed to listen to signals")
}

/// The next one, if it is listened to.
async fn next(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

//! Real servers on loopback, at a free port, in a temporary folder, for as long as a test holds them.
//!
//! They end when the value is dropped, so also when a test fails; and when the test process is killed, because a keeper process
//! watches a pipe that dies with it.

mod keeper;
mod postgres;
mod redis;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

pub use self::{postgres::Postgres, redis::Redis};

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It is not on this machine.
    #[error(
        "{program} is not installed: run `cargo xtask test --install`, or install Debian's package `{package}`"
    )]
    Missing {
        /// The program.
        program: &'static str,
        /// What brings it.
        package: &'static str,
    },
    /// The machine refused something.
    #[error("failed to {what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the machine said.
        #[source]
        source: io::Error,
    },
    /// It started and did not become ready.
    #[error("{program} did not become ready; its log says:\n{log}")]
    NotReady {
        /// The program.
        program: &'static str,
        /// What it wrote.
        log: String,
    },
}

/// How long a server may take until it answers. Generous, because a loaded machine is no failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a start is tried: another process may take the free port before the server does.
const ATTEMPTS: u32 = 3;

fn free_port() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

fn refused(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::Io { what, source }
}

/// A program on the search path.
fn on_path(program: &str) -> Option<PathBuf> {
    let found = Command::new("sh")
        .args(["-c", "command -v \"$1\"", "sh", program])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    found.status.success().then(|| path.trim_end().into())
}

/// Asks until the answer is yes, the server is gone, or patience ends.
fn becomes_ready(keeper: &keeper::Keeper, ready: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE && keeper.is_serving() {
        if ready() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

//! Real servers on loopback, at a free port, in a temporary folder, for as long as a test holds them.
//!
//! They end when the value is dropped, so also when a test fails; and when the test process is killed, because a keeper process
//! watches a pipe that dies with it.

mod certificate;
mod clock;
mod keeper;
mod pgbouncer;
mod postgres;
mod redis;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

pub use self::{pgbouncer::PgBouncer, postgres::Postgres, redis::Redis};

/// How a server is set up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setup {
    /// Whether what it has acknowledged is on the disk. PostgreSQL is always so; Redis writes and flushes its append-only file before
    /// each answer.
    pub durable: bool,
    /// Whether it goes by a wall clock of its own, which can be shifted.
    pub own_clock: bool,
    /// Whether it also speaks TLS, with a certificate of its own for `localhost`.
    pub tls: bool,
    /// Whether a Redis is a node of a cluster that it does not know yet.
    pub cluster: bool,
}

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
const PATIENCE: Duration = Duration::from_secs(300);

/// How often a start is tried: another process may take the free port before the server does.
const ATTEMPTS: u32 = 3;

/// Starts a server again that has ended. What is left of the one before may keep the place occupied for a moment.
fn start_again(
    program: &'static str,
    keeper: &mut keeper::Keeper,
    ready: impl Fn() -> bool,
) -> Result<(), StartError> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        keeper.start_again().map_err(refused("start it again"))?;
        if becomes_ready(keeper, &ready) {
            return Ok(());
        }
        // Nothing is left to end if it went by itself; it is collected all the same.
        keeper.kill().map_err(refused("end what did not become ready"))?;
    }
    Err(StartError::NotReady { program, log: keeper.log() })
}

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

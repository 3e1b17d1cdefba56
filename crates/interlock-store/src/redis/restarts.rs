//! Restarts of a server that keeps nothing through them, noticed where nothing could be granted yet.
//!
//! A restart ends the connection, so it is looked for when a new one is made, before anything is sent on it. A server that was started anew (its
//! `run_id` is another one) and writes no append-only file has forgotten what it had granted. The calls from before go on all the same, here and
//! in other processes, so none is let in beside them until the last of them has run out.
//!
//! A client that was opened after the restart knows of nothing. A server that is emptied while it runs (`FLUSHALL`) is not noticed, and
//! neither is what a replica had not received when it took over.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use interlock_sync::store::StoreError;
use redis::{RedisResult, aio::MultiplexedConnection};
use tokio::time::Instant;

/// What is known of the runs of a server.
#[derive(Debug, Default)]
pub(super) struct Restarts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The run of each node, by its address.
    runs: HashMap<String, String>,
    /// When it was noticed that grants were forgotten.
    forgot: Option<Instant>,
    /// The longest time for which anything was asked here.
    longest: Duration,
}

impl Restarts {
    /// Looks, on a new connection, which run of the node at this address this is. Where the account may not ask, nothing is noticed; that was said
    /// when the store was opened.
    pub(super) async fn look(
        &self,
        address: &str,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        let Some(run) = said(connection, "server", "run_id:").await? else { return Ok(()) };
        if !self.is_new_run(address, &run) {
            return Ok(());
        }
        let appends = said(connection, "persistence", "aof_enabled:").await?;
        let mut state = self.state();
        state.runs.insert(address.to_owned(), run);
        if appends.as_deref() != Some("1") {
            state.forgot = Some(Instant::now());
        }
        Ok(())
    }

    /// Whether this node ran before, and as another one. The first run is taken for known.
    fn is_new_run(&self, address: &str, run: &str) -> bool {
        let mut state = self.state();
        let known = state.runs.entry(address.to_owned()).or_insert_with(|| run.to_owned());
        known != run
    }

    /// Whether something may be granted for so long.
    ///
    /// # Errors
    ///
    /// Calls from before a restart may still run, of which the server knows nothing.
    pub(super) fn permit(&self, ttl: Duration, place: &str) -> Result<(), StoreError> {
        let mut state = self.state();
        state.longest = state.longest.max(ttl);
        let Some(forgot) = state.forgot else { return Ok(()) };
        let left = state.longest.saturating_sub(forgot.elapsed());
        if left.is_zero() {
            state.forgot = None;
            return Ok(());
        }
        let reason = format!(
            "{place} was restarted and has forgotten what it had granted; calls from before may still run, so none is let in beside them for {} s \
             more (`appendonly yes` keeps it from forgetting)",
            left.as_secs() + 1
        );
        Err(StoreError::Unavailable { reason, source: None })
    }

    /// Nothing can panic while this is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a section of `INFO` says behind this; `None` if it does not, or may not be asked.
async fn said(
    connection: &mut MultiplexedConnection,
    section: &str,
    name: &str,
) -> RedisResult<Option<String>> {
    let answer: RedisResult<String> = redis::cmd("INFO").arg(section).query_async(connection).await;
    match answer {
        Ok(text) => Ok(text.lines().find_map(|line| Some(line.trim().strip_prefix(name)?.to_owned()))),
        Err(error) if error.is_io_error() || error.is_timeout() => Err(error),
        Err(_) => Ok(None),
    }
}

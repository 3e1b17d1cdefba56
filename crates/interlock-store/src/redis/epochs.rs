//! Servers that have forgotten what they granted: emptied, restored, started anew without a file to read again, or in the place of another one
//! whose last writes they never received.
//!
//! The calls from before go on all the same, here and in other processes, so none that holds anything is let in beside them until the last of
//! them has run out. Whether something was forgotten is decided where it is granted, in the script: what was granted belongs to an *epoch* that
//! the server keeps, and every client says which one it knows. If the server has another one, or none, it has forgotten. Until when nothing
//! is granted is kept on the server, so clients that were never told of the old epoch are refused as well.
//!
//! An epoch that comes back from an old file, or from a replica that lagged, looks like the right one. So a client also says which run of the
//! server (`run_id`) it speaks to, and whether that run is one that may have lost something: it appends to no file, or it was a replica and
//! took over (`master_replid2`). The store knows which run it was last told of.
//!
//! Not noticed: a server that is emptied, or starts empty, while no client is connected that knew its epoch; a replica that took over, where the
//! account may not ask (`INFO`), which was said when the store was opened.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use interlock_sync::store::{OpId, StoreError};
use redis::{RedisResult, aio::MultiplexedConnection};
use tokio::time::Instant;

use super::{answer::Answer, call::Packed, span::micros};

/// What is known of a server's epochs.
#[derive(Debug, Default)]
pub(super) struct Epochs(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The run of each node, by its address.
    runs: HashMap<String, RunId>,
    /// The epoch that grants belong to; none before the first one was asked for.
    known: [u8; 16],
    /// Whether a node was seen to start anew with nothing to read again, and the store was not told yet.
    saw_restart: bool,
    /// The longest time for which anything was asked here.
    longest: Duration,
}

/// Digits by which a server names one run of its program.
type RunId = [u8; 40];

/// What a server says that does not tell its runs apart, or may not be asked.
const UNKNOWN: RunId = [b'0'; 40];

/// The run of a server that a connection leads to.
#[derive(Debug)]
pub(super) struct Run {
    id: RunId,
    began: Instant,
    keeps: Keeps,
}

/// What a run has of what the one before it had granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// All of it, or that is not known.
    All,
    /// What was in a snapshot: it appends to no file.
    Snapshot,
    /// What had arrived when it took over.
    Replicated,
}

/// What a script made of the epoch that it was told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It did what it was asked for.
    Done,
    /// It did nothing: the epoch is another one, which is known from now on.
    Again,
}

impl Epochs {
    /// Looks, on a new connection and before anything else is sent on it, which run of the node at this address this is.
    pub(super) async fn look(
        &self,
        address: &str,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<Run> {
        let server = info(connection, "server").await?;
        let id = value(&server, "run_id:").and_then(|id| id.as_bytes().try_into().ok()).unwrap_or(UNKNOWN);
        let uptime = value(&server, "uptime_in_seconds:").and_then(|seconds| seconds.parse().ok());
        let now = Instant::now();
        let began = uptime.and_then(|seconds| now.checked_sub(Duration::from_secs(seconds))).unwrap_or(now);
        let replication = info(connection, "replication").await?;
        let persistence = info(connection, "persistence").await?;
        let took_over =
            value(&replication, "master_replid2:").is_some_and(|id| id.bytes().any(|byte| byte != b'0'));
        let keeps = match value(&persistence, "aof_enabled:") {
            Some("0") => Keeps::Snapshot,
            Some(_) if took_over => Keeps::Replicated,
            _ => Keeps::All,
        };
        if id != UNKNOWN && self.is_new_run(address, id) && keeps == Keeps::Snapshot {
            let mut state = self.state();
            // Nothing of it is there any more, or only what is old.
            (state.known, state.saw_restart) = ([0; 16], true);
        }
        Ok(Run { id, began, keeps })
    }

    /// Whether this node ran before, and as another one. The first run is taken for known.
    fn is_new_run(&self, address: &str, id: RunId) -> bool {
        self.state().runs.insert(address.to_owned(), id).is_some_and(|before| before != id)
    }

    /// Notes for how long something is asked.
    pub(super) fn note(&self, ttl: Duration) {
        let mut state = self.state();
        state.longest = state.longest.max(ttl);
    }

    /// What the script is told over a connection to this run.
    pub(super) fn words(&self, run: &Run) -> Packed {
        let state = self.state();
        let (doubt, ago) = match run.keeps {
            _ if state.saw_restart => (2, run.began.elapsed()),
            Keeps::Snapshot => (1, run.began.elapsed()),
            // When it took over it does not say.
            Keeps::Replicated => (1, Duration::ZERO),
            Keeps::All => (0, Duration::ZERO),
        };
        Packed::new()
            .long(micros(state.longest))
            .long(micros(ago))
            .byte(doubt)
            .plain(&state.known)
            .plain(&OpId::fresh().0.to_be_bytes())
            .plain(&run.id)
    }

    /// What an answer says of the epoch.
    ///
    /// # Errors
    ///
    /// Calls from before may still run, of which the server knows nothing.
    pub(super) fn judge(&self, answer: &[u8], place: &str) -> Result<Told, StoreError> {
        if let Some(epoch) = answer.strip_prefix(b"epoch\n").and_then(|epoch| epoch.try_into().ok()) {
            let mut state = self.state();
            (state.known, state.saw_restart) = (epoch, false);
            return Ok(Told::Again);
        }
        let Some(left) = answer.strip_prefix(b"forgot\n") else { return Ok(Told::Done) };
        let left = Duration::from_micros(Answer::new(left).number()?);
        let reason = format!(
            "{place} has forgotten what it had granted: it was emptied, it was restarted, or a replica took its place; calls from before may still run, \
             so none is let in beside them for {} s more (`appendonly yes` keeps it from forgetting when it restarts)",
            left.as_secs() + 1
        );
        Err(StoreError::Unavailable { reason, source: None })
    }

    /// Nothing can panic while this is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A section of `INFO`; nothing where it may not be asked for.
async fn info(connection: &mut MultiplexedConnection, section: &str) -> RedisResult<String> {
    let answer: RedisResult<String> = redis::cmd("INFO").arg(section).query_async(connection).await;
    match answer {
        Err(error) if error.is_io_error() || error.is_timeout() => Err(error),
        answer => Ok(answer.unwrap_or_default()),
    }
}

/// What a section says behind this.
fn value<'a>(section: &'a str, name: &str) -> Option<&'a str> {
    section.lines().find_map(|line| line.trim().strip_prefix(name))
}

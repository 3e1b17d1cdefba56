//! Connections that read, and the threads they do it on.

use std::{
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_sync::{clock::Clock, store::StoreError};
use rusqlite::Connection;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout_at};

use super::{
    connect,
    fault::{before_commit, closed, moved},
    patience::deadline,
    tables::{Tables, Versions},
};

/// How many reads run at once unless told otherwise. They seldom wait for anything but the processor.
const USUAL: usize = 4;

/// More would only be threads that wait for each other.
const MOST: usize = 64;

/// What tells a file from another that has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity(#[cfg(unix)] (u64, u64));

impl Identity {
    #[cfg(unix)]
    fn of(file: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(file)?;
        Ok(Self((found.dev(), found.ino())))
    }

    /// Elsewhere an open file cannot be replaced.
    #[cfg(not(unix))]
    fn of(_: &Path) -> io::Result<Self> {
        Ok(Self())
    }
}

/// Runs reads, each on a connection that has just committed nothing and so sees all that was committed before it began.
#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    space: i64,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    /// Which file it is: by its path alone another one that took its place would be read.
    identity: Identity,
}

impl Readers {
    pub(super) fn new(
        file: &Path,
        most: Option<NonZeroUsize>,
        space: i64,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> io::Result<Arc<Self>> {
        let turns = Arc::new(Semaphore::new(most.map_or(USUAL, |most| most.get().min(MOST))));
        let (identity, file) = (Identity::of(file)?, file.to_owned());
        Ok(Arc::new(Self { file, space, clock, timeout, turns, idle: Mutex::default(), identity }))
    }

    /// Lets go of the file. A read that is under way ends, and its connection with it.
    pub(super) fn close(&self) {
        self.turns.close();
        self.idle().clear();
    }

    /// Reads off the threads of the runtime.
    ///
    /// # Cancel safety
    ///
    /// A read whose future is dropped runs to its end unheard.
    pub(super) async fn run<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_, '_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let unread = |reason: &str| StoreError::Unavailable { reason: reason.into(), source: None };
        let read = async {
            let turns = Arc::clone(&self.turns);
            let turn = turns.acquire_owned().await.map_err(|_closed| closed())?;
            let readers = Arc::clone(self);
            let read = spawn_blocking(move || {
                let read = readers.read(work);
                drop(turn);
                read
            });
            read.await.map_err(|ended| StoreError::unavailable("the runtime ended a read", ended))?
        };
        timeout_at(deadline(self.timeout), read)
            .await
            .unwrap_or_else(|_elapsed| Err(unread("the file could not be read in time")))
    }

    fn read<T>(&self, work: impl FnOnce(&Tables<'_, '_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let failed = |error| before_commit("the file could not be read", Arc::new(error));
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().map_err(failed)?.ok_or_else(moved)?,
        };
        if connect::has_moved(&connection).map_err(failed)? {
            return Err(moved());
        }
        let read = work(&Tables::new(&connection, self.space, &Versions::default(), self.clock.now()))
            .map_err(failed)?;
        // One on which something failed is closed instead, and the next reader opens another.
        if !self.turns.is_closed() {
            self.idle().push(connection);
        }
        Ok(read)
    }

    /// A connection to the file that was opened at first; `None` if another one is in its place. That the path leads to the same file
    /// afterwards, and that the connection has what the path leads to, say together which file it has.
    fn connect(&self) -> rusqlite::Result<Option<Connection>> {
        let connection = connect::reader(&self.file, self.timeout);
        if Identity::of(&self.file).ok() != Some(self.identity) {
            return Ok(None);
        }
        connection.map(Some)
    }

    pub(super) fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // A list of connections is whole whatever panicked.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

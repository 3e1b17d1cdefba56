//! Connections that read, and the threads they do it on.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_sync::{clock::Clock, store::StoreError};
use rusqlite::Connection;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout_at};

use super::{
    connect,
    fault::{before_commit, moved},
    patience::deadline,
    tables::{Tables, Versions},
};

/// How many reads run at once. They seldom wait for anything but the processor.
const MOST: usize = 4;

/// Runs reads, each on a connection that has just committed nothing and so sees all that was committed before it began.
#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    space: i64,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(file: PathBuf, space: i64, clock: Arc<dyn Clock>, timeout: Duration) -> Arc<Self> {
        let turns = Arc::new(Semaphore::new(MOST));
        Arc::new(Self { file, space, clock, timeout, turns, idle: Mutex::default() })
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
            let turn = turns.acquire_owned().await.map_err(|_closed| unread("the store is closed"))?;
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
            None => connect::reader(&self.file, self.timeout).map_err(failed)?,
        };
        if connect::has_moved(&connection).map_err(failed)? {
            return Err(moved());
        }
        let read = work(&Tables::new(&connection, self.space, &Versions::default(), self.clock.now()))
            .map_err(failed)?;
        // One on which something failed is closed instead, and the next reader opens another.
        self.idle().push(connection);
        Ok(read)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // A list of connections is whole whatever panicked.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

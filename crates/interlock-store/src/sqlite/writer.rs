//! The callers' way to the one thread of a store that writes.

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use interlock_sync::{clock::Clock, store::StoreError};
use rusqlite::Connection;
use tokio::{
    sync::{mpsc, watch},
    time::timeout_at,
};

use super::{
    desk::Desk,
    fault::closed,
    job::{Job, job},
    patience::deadline,
    readers::Readers,
    tables::Tables,
};

/// How many operations may be handed over and not yet taken. Whoever comes then waits without having been sent.
const QUEUE: usize = 1024;

/// Hands operations to the thread, and waits for what became of them.
pub(super) struct Writer {
    /// Gone when the store was closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    /// Tells when the thread has let go of the file.
    ended: watch::Receiver<()>,
    thread: Option<thread::JoinHandle<()>>,
    timeout: Duration,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread. It ends when the writer is dropped and what was handed over is done, and closes the readers too.
    pub(super) fn start(
        connection: Connection,
        space: i64,
        clock: Arc<dyn Clock>,
        timeout: Duration,
        readers: Arc<Readers>,
    ) -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel(QUEUE);
        let commits = Arc::new(AtomicU64::new(0));
        // The last quarter of a caller's time is for the commit.
        let patience = timeout - timeout / 4;
        let counted = Arc::clone(&commits);
        let (open, ended) = watch::channel(());
        let thread = thread::Builder::new().name("interlock-sqlite".into()).spawn(move || {
            Desk::new(&connection, space, clock, jobs, patience, counted).work();
            readers.close();
            // What is in the log goes into the file, so that it is whole without its companions. Should another process keep that from
            // happening, the last one to close the file does it.
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            drop(connection);
            drop(open);
        })?;
        let (jobs, thread) = (Mutex::new(Some(sender)), Some(thread));
        Ok(Self { jobs, ended, thread, timeout, commits })
    }

    /// Takes nothing more, and waits until what was handed over is done and the file is closed.
    pub(super) async fn close(&self) -> Result<(), StoreError> {
        drop(self.jobs().take());
        // Nothing is ever sent: the end of waiting is that the thread has dropped its side.
        let closed = timeout_at(deadline(self.timeout), self.ended.clone().changed()).await;
        let reason = "the file is still in use by what was handed over before".into();
        closed.map(drop).map_err(|_elapsed| StoreError::Unavailable { reason, source: None })
    }

    fn jobs(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        // It is there or gone, whatever panicked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an operation over and waits for its commit.
    ///
    /// # Cancel safety
    ///
    /// Once it is handed over, which it is as soon as the queue has a place for it, the operation takes effect also if this future is
    /// dropped. Dropped before that, it does not.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&Tables<'_, '_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let unsent = |reason: &str| StoreError::Unavailable { reason: reason.into(), source: None };
        let lost = |reason: &str| StoreError::InDoubt { reason: reason.into(), source: None };
        let since = Instant::now();
        let deadline = deadline(self.timeout);
        let jobs = self.jobs().clone().ok_or_else(closed)?;
        let place = match timeout_at(deadline, jobs.reserve()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_closed)) => {
                let reason = "the thread that writes has died".into();
                return Err(StoreError::Broken { reason, source: None });
            }
            Err(_elapsed) => return Err(unsent("too many operations are waiting for the file")),
        };
        let (job, answer) = job(since, work);
        place.send(job);
        match timeout_at(deadline, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_closed)) => Err(lost("the thread that writes has died")),
            Err(_elapsed) => Err(lost("the commit has not come back in time")),
        }
    }

    /// How many transactions were committed.
    #[cfg(test)]
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::SeqCst)
    }
}

impl Drop for Writer {
    /// Where nobody else would have to wait, the file is closed before this returns: a program that ends right after would leave everything in
    /// the log beside it. Inside a runtime it is closed in the background, and `close` waits for it.
    fn drop(&mut self) {
        drop(self.jobs().take());
        if let (Some(thread), Err(_outside)) = (self.thread.take(), tokio::runtime::Handle::try_current()) {
            // It does not panic, and if it did, the file is closed as well.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commits = self.commits.load(Ordering::SeqCst);
        f.debug_struct("Writer").field("commits", &commits).finish_non_exhaustive()
    }
}

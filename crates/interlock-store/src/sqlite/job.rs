//! An operation on its way through the writer: what it does, and who waits for its answer.

use std::time::{Duration, Instant};

use interlock_sync::store::StoreError;
use tokio::sync::oneshot;

use super::tables::Tables;

/// An operation whose answer the writer need not know.
pub(super) type Job = Box<dyn Work>;

/// What the writer does with an operation. It may be run again if its transaction was taken back, and is answered once: after its commit,
/// or when it is clear that there will be none.
pub(super) trait Work: Send {
    /// How long its caller has been waiting.
    fn waited(&self) -> Duration;

    /// Runs it inside a transaction, and keeps its answer back.
    fn run(&mut self, tables: &Tables<'_, '_>) -> rusqlite::Result<()>;

    /// Gives the answer that was kept back, or says why there is none. Nobody may be waiting any more.
    fn answer(self: Box<Self>, end: Result<(), StoreError>);
}

struct Task<T, F> {
    since: Instant,
    work: F,
    done: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

/// An operation, and where its answer will be. The caller has been waiting since `since`.
pub(super) fn job<T, F>(since: Instant, work: F) -> (Job, oneshot::Receiver<Result<T, StoreError>>)
where
    T: Send + 'static,
    F: Fn(&Tables<'_, '_>) -> rusqlite::Result<T> + Send + 'static,
{
    let (caller, answer) = oneshot::channel();
    (Box::new(Task { since, work, done: None, caller }), answer)
}

impl<T, F> Work for Task<T, F>
where
    T: Send,
    F: Fn(&Tables<'_, '_>) -> rusqlite::Result<T> + Send,
{
    fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    fn run(&mut self, tables: &Tables<'_, '_>) -> rusqlite::Result<()> {
        self.done = Some((self.work)(tables)?);
        Ok(())
    }

    fn answer(self: Box<Self>, end: Result<(), StoreError>) {
        let answer = match (end, self.done) {
            (Ok(()), Some(done)) => Ok(done),
            (Err(error), _) => Err(error),
            // An operation that was not run has no answer. Closing the channel says that something went wrong.
            (Ok(()), None) => return,
        };
        // A caller that does not wait any more has nothing to be told.
        let _ = self.caller.send(answer);
    }
}

//! Waiting for the disk behind a transaction and not inside it.
//!
//! All calls of one caller share what bounds that caller, and so a lock. A transaction that waits for the disk keeps its locks meanwhile: so many calls
//! a second as the disk has writes, however many callers. So a grant and an end commit without waiting, at once visible to others, and whoever asked is
//! told only when they are on the disk: with one more small transaction, which all who wait in this process share.
//!
//! The log is written in order. What anybody is told of was committed after all that it was decided on, so when it is on the disk, so is that. What a
//! crash takes back nobody was told of.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{
    fault::{Effect, Failure},
    fold::{Fold, Gather},
    line::Line,
};

/// Those who wait for the disk.
#[derive(Debug)]
pub(super) struct Durable {
    fold: Arc<Fold<Flushes>>,
    line: Arc<Line>,
    next: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Flushes(Arc<Line>);

/// What makes a transaction end without waiting for the disk, as the first table of a statement. Whatever follows must need its column, or it may
/// come first.
pub(super) const LATER: &str =
    "(SELECT set_config('synchronous_commit', 'off', true) IS NOT NULL AS is_later) l";

impl Durable {
    pub(super) fn new(line: Arc<Line>) -> Self {
        Self { fold: Fold::new(Flushes(Arc::clone(&line))), line, next: AtomicU64::new(0) }
    }

    /// Waits until everything that has been committed is as durable as the server makes it.
    pub(super) async fn reached(&self) -> Result<(), Failure> {
        let wish = self.next.fetch_add(1, Ordering::Relaxed);
        // What it is waited for has happened, whatever becomes of the waiting.
        self.fold.join((), wish, self.line.deadline()).await.map_err(Failure::into_doubt)
    }
}

impl Gather for Flushes {
    type Key = ();
    type Wish = u64;
    type Answer = ();

    fn size(_: &u64) -> usize {
        1
    }

    fn id(wish: &u64) -> u128 {
        (*wish).into()
    }

    /// A transaction that only has a number is not waited for: it must have written something. This is read by nobody, and is in no table.
    async fn send(&self, (): &(), wishes: Vec<u64>) -> Result<Vec<()>, Failure> {
        let statement = "SELECT pg_logical_emit_message(true, 'interlock'::text, ''::text)::text AS place";
        self.0.ask_one(Effect::Changes, statement, &[]).await?;
        Ok(vec![(); wishes.len()])
    }
}

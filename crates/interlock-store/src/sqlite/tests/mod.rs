//! What is special about this backend. That it does what every store does is shown by the conformance suite.

mod admitting;
mod forgetting;
mod grouping;
mod killing;
mod opening;
mod sharing;
mod trouble;
mod waiting;

use std::{
    future::{Future, poll_fn},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, mpsc},
    task::Poll,
    time::Duration,
};

use interlock_sync::{
    clock::{ManualClock, Timestamp},
    store::{Change, Content, Expect, Key, Mutation, OpId, Outcome, Store, StoreError},
};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::{sync::mpsc::unbounded_channel, task::coop::unconstrained};

use super::{connect::Problem, place::Place, store::SqliteStore};
use crate::Options;

/// A folder with a file to be, and a clock that stands still.
struct Scene {
    folder: TempDir,
    clock: Arc<ManualClock>,
    options: Options,
}

impl Scene {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp(1_000_000_000_000)));
        // No test waits this long unless something is wrong.
        let timeout = Duration::from_secs(120);
        let options = Options { clock: Some(Arc::clone(&clock) as _), timeout, ..Options::default() };
        Self { folder: tempfile::tempdir().unwrap(), clock, options }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    fn open(&self) -> Arc<SqliteStore> {
        Arc::new(open(&self.file(), &self.options).unwrap())
    }

    /// Drops a store and waits until its connections are closed: the clock is shared with nobody else then.
    fn close(&self, store: Arc<SqliteStore>) {
        drop(store);
        while Arc::strong_count(&self.clock) > 2 {
            std::thread::yield_now();
        }
    }

    /// A connection that is no store's.
    fn bare(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }
}

fn open(file: &Path, options: &Options) -> Result<SqliteStore, Problem> {
    SqliteStore::open(&Place::of_url(&format!("sqlite:{}", file.display())).unwrap(), options)
}

fn key(name: impl AsRef<str>) -> Key {
    Key::new(name).unwrap()
}

fn put(name: &str, number: i64) -> Mutation {
    let change = Change::Put { key: key(name), expect: Expect::Absent, content: Content::Number(number) };
    Mutation::new(OpId::fresh(), change)
}

fn transfer(from: &str, to: &str, amount: i64) -> Mutation {
    Mutation::new(OpId::fresh(), Change::Transfer { from: key(from), to: key(to), amount, floor: 0 })
}

async fn applies(store: &dyn Store, mutation: &Mutation) -> bool {
    matches!(store.mutate(mutation).await.unwrap(), Outcome::Applied(applied) if !applied.replayed)
}

async fn number(store: &dyn Store, name: &str) -> i64 {
    match store.get(&key(name)).await.unwrap().unwrap().content {
        Content::Number(number) => number,
        other => panic!("{other:?} is no number"),
    }
}

/// Polls futures once, after which their operations are handed over: however many there are, tokio shall not ask for a pause.
async fn start<T>(futures: &mut [Pin<Box<dyn Future<Output = T> + Send + '_>>]) {
    unconstrained(poll_fn(|context| {
        assert!(futures.iter_mut().all(|future| future.as_mut().poll(context).is_pending()));
        Poll::Ready(())
    }))
    .await;
}

/// Keeps the writer inside an operation until it is dropped.
struct Blocked {
    _go: mpsc::Sender<()>,
}

impl Blocked {
    async fn new(store: &Arc<SqliteStore>) -> Self {
        let (go, wait) = mpsc::channel::<()>();
        let (inside, mut is_inside) = unbounded_channel();
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let block = store.writer.run(move |_| {
                // It may be run again, and then nobody asks any more.
                let _ = inside.send(());
                // Nobody sends: the end of waiting is that the sender is dropped.
                wait.recv().unwrap_err();
                Ok(())
            });
            let _: Result<(), StoreError> = block.await;
        });
        is_inside.recv().await.unwrap();
        Self { _go: go }
    }
}

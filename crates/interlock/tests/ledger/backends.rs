//! Which backends the tests run on, and how each is brought up.

use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use interlock_testkit::service::{Postgres, Redis};
use tempfile::TempDir;

/// The backends under test, by the scheme of their URLs.
pub(crate) const BACKENDS: &[&str] = &["memory", "sqlite", "redis", "postgres"];

/// A backend's state for one test, gone with it.
pub(crate) struct State {
    pub(crate) url: String,
    _held: Held,
}

#[expect(dead_code, reason = "held only to be dropped")]
enum Held {
    Nothing,
    Folder(TempDir),
    Redis(Redis),
}

impl State {
    /// A new and empty one.
    pub(crate) fn new(backend: &str) -> Self {
        let (url, held) = match backend {
            "memory" => ("memory:".to_owned(), Held::Nothing),
            "sqlite" => {
                let folder = tempfile::tempdir().expect("there is room for a folder");
                (format!("sqlite:{}", folder.path().join("state.db").display()), Held::Folder(folder))
            }
            "redis" => {
                let redis = Redis::start().expect("redis starts");
                (redis.url(), Held::Redis(redis))
            }
            "postgres" => (new_database(), Held::Nothing),
            other => panic!("there is no backend `{other}`"),
        };
        Self { url, _held: held }
    }
}

/// A database of its own on a server for all tests: making a whole cluster takes a second each. It ends with this process.
fn new_database() -> String {
    static SERVER: LazyLock<Postgres> = LazyLock::new(|| Postgres::start().expect("postgres starts"));
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let name = format!("ledger_{}", MADE.fetch_add(1, Ordering::Relaxed));
    SERVER.query(&format!("create database {name}")).expect("a database can be made");
    format!("postgres://postgres@{}/{name}", SERVER.address())
}

/// The backends whose state outlives the process.
pub(crate) fn lasting() -> impl Iterator<Item = &'static str> {
    BACKENDS.iter().copied().filter(|backend| *backend != "memory")
}

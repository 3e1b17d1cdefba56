//! The backends under check: what to start, and how a check gets a store of its own.

use std::{
    future::Future,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use interlock_store::{Options, open};
use interlock_testkit::{packages, service};

use crate::Shared;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Backend {
    Memory,
    Sqlite,
    Redis,
    /// What Redis was before it changed its licence, carried on.
    Valkey,
    Postgres,
    /// PostgreSQL behind PgBouncer in transaction mode.
    PgBouncer,
}

/// One server for all checks of this process; it ends with the process.
static REDIS: LazyLock<service::Redis> = LazyLock::new(|| service::Redis::start().expect("Redis starts"));
static VALKEY: LazyLock<service::Redis> = LazyLock::new(|| {
    let program = packages::installed(env!("CARGO_TARGET_TMPDIR"), "valkey").join("valkey-server");
    service::Redis::start_program(&program, service::Setup::default()).expect("Valkey starts")
});
static POSTGRES: LazyLock<service::Postgres> =
    LazyLock::new(|| service::Postgres::start().expect("PostgreSQL starts"));

static PGBOUNCER: LazyLock<service::PgBouncer> =
    LazyLock::new(|| service::PgBouncer::start(&POSTGRES).expect("PgBouncer starts"));

/// Runs a check on a store that nobody else uses, on several threads.
pub(crate) fn run<C, F>(backend: Backend, name: &str, check: C)
where
    C: FnOnce(Shared) -> F,
    F: Future<Output = ()>,
{
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = match backend {
        Backend::Memory => "memory:".to_owned(),
        Backend::Sqlite => format!("sqlite:{}", folder.path().join("state.db").display()),
        Backend::Redis => REDIS.url(),
        Backend::Valkey => VALKEY.url(),
        Backend::Postgres => POSTGRES.url(),
        Backend::PgBouncer => PGBOUNCER.url(),
    };
    let namespace = format!("check-{}", RUNS.fetch_add(1, Ordering::Relaxed));
    let options = Options::default().namespace(namespace).timeout(Duration::from_secs(30));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = open(&url, &options).await.unwrap_or_else(|error| panic!("{name}: {error}: {error:?}"));
        check(store).await;
    });
}

//! Where a scenario plays: a backend, the road to it, the processes at work on it, and their journals.

use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_store::{Options, open};
use interlock_sync::{
    clock::{Clock, SystemClock},
    store::{Change, Content, Expect, Mutation, OpId, Store},
};
use interlock_testkit::service::{Postgres, Redis, Setup};
use tempfile::TempDir;

use crate::{
    Backend,
    client::{ACCOUNTS, COUNTER, EACH, PATIENCE},
    journal::Journal,
    judge, key,
    process::{FAILPOINTS, Failpoint, Orders, Role, Worker},
    proxy::Proxy,
    tally::{Tally, say},
};

/// How the clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Road {
    Straight,
    /// Over a network that can be spoiled.
    Proxied,
}

pub(crate) struct Stage {
    backend: Backend,
    folder: TempDir,
    server: Option<Server>,
    proxy: Option<Proxy>,
    namespace: String,
    workers: u64,
    epochs: u64,
    pub(crate) faults: Tally,
    pub(crate) held: Tally,
}

/// A server of either kind.
pub(crate) enum Server {
    Redis(Redis),
    Postgres(Postgres),
}

impl Server {
    pub(crate) fn start(backend: Backend, setup: Setup) -> Option<Self> {
        match backend {
            Backend::Sqlite => None,
            Backend::Redis => Some(Self::Redis(Redis::start_as(setup).unwrap())),
            Backend::Postgres => Some(Self::Postgres(Postgres::start_as(setup).unwrap())),
        }
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Redis(redis) => redis.address(),
            Self::Postgres(postgres) => postgres.address(),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Redis(redis) => redis.url(),
            Self::Postgres(postgres) => postgres.url(),
        }
    }

    pub(crate) fn shift_clock(&self, seconds: i64) {
        match self {
            Self::Redis(redis) => redis.shift_clock(seconds).unwrap(),
            Self::Postgres(postgres) => postgres.shift_clock(seconds).unwrap(),
        }
    }
}

impl Stage {
    /// A backend in which the accounts are open and the counter stands at nought.
    pub(crate) fn new(backend: Backend, road: Road) -> Self {
        let server = Server::start(backend, Setup { durable: true, ..Setup::default() });
        let proxy = match (&server, road) {
            (Some(server), Road::Proxied) => Some(Proxy::to(server.address())),
            _ => None,
        };
        let folder = tempfile::tempdir().unwrap();
        let (faults, held) = (Tally::default(), Tally::default());
        let mut stage = Self {
            backend,
            folder,
            server,
            proxy,
            namespace: String::new(),
            workers: 0,
            epochs: 0,
            faults,
            held,
        };
        stage.begin_anew();
        stage
    }

    /// Another namespace, with journals of its own.
    pub(crate) fn begin_anew(&mut self) {
        self.epochs += 1;
        self.namespace = format!("epoch-{}", self.epochs);
        fs::create_dir(self.journals()).unwrap();
        crate::block_on(async {
            let store = self.open().await;
            let accounts = (0..ACCOUNTS).map(|n| (format!("account-{n}"), Content::Number(EACH)));
            for (name, content) in accounts.chain([(COUNTER.to_owned(), Content::Bytes(b"0".into()))]) {
                let change = Change::Put { key: key(name), expect: Expect::Absent, content };
                store.mutate(&Mutation::new(OpId::fresh(), change)).await.unwrap();
            }
        });
    }

    /// Where the journals and the effects of this epoch are.
    pub(crate) fn journals(&self) -> PathBuf {
        self.folder.path().join(&self.namespace)
    }

    /// The store, by the straight road.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        let timeout = Duration::from_secs(20);
        let options = Options::default().namespace(&self.namespace).timeout(timeout);
        open(&self.straight_url(), &options).await.unwrap()
    }

    fn straight_url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite:{}", self.folder.path().join("state.db").display()),
        }
    }

    fn url(&self) -> String {
        match (&self.server, &self.proxy) {
            (Some(server), Some(proxy)) => {
                server.url().replace(&server.address().to_string(), &proxy.address().to_string())
            }
            _ => self.straight_url(),
        }
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().unwrap()
    }

    /// Starts a client, which may be told where to die.
    pub(crate) fn client(&mut self, failpoint: Option<(Failpoint, u64)>) -> Worker {
        self.worker(Role::Client, failpoint)
    }

    pub(crate) fn worker(&mut self, role: Role, failpoint: Option<(Failpoint, u64)>) -> Worker {
        self.workers += 1;
        let (url, namespace, folder) = (self.url(), self.namespace.clone(), self.journals());
        Worker::start(Orders { role, url, namespace, folder, id: self.workers, failpoint })
    }

    /// Waits until a client has written so many lines, or has ended.
    pub(crate) fn wait_for_notes(&self, client: &Worker, lines: usize) {
        let start = Instant::now();
        let notes = || fs::read(client.orders.journal()).unwrap_or_default();
        while notes().iter().filter(|byte| **byte == b'\n').count() < lines {
            assert!(start.elapsed() < PATIENCE, "a client does not get on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills a client wherever it is. One that was told where to die may have done so.
    pub(crate) fn kill(&mut self, mut client: Worker) {
        if client.has_ended() {
            assert!(client.orders.failpoint.is_some(), "a client failed: see above");
            return self.bury(client);
        }
        client.kill();
        self.faults.count("clients killed anywhere");
    }

    /// Waits until a client has died where it was told to.
    pub(crate) fn bury(&mut self, mut client: Worker) {
        assert!(!client.ends_well(), "it was told to die");
        let (point, _) = client.orders.failpoint.unwrap();
        self.faults.count(FAILPOINTS.iter().find(|(known, _)| *known == point).unwrap().1);
    }

    /// Lets a client finish what it is at; it must not have failed.
    pub(crate) fn dismiss(&mut self, mut client: Worker) {
        client.dismiss();
        assert!(client.ends_well(), "a client failed: see above");
        self.held.count("clients that saw it through");
    }

    pub(crate) fn kill_server(&mut self) {
        match self.server.as_mut().unwrap() {
            Server::Redis(redis) => redis.kill().unwrap(),
            Server::Postgres(postgres) => {
                postgres.kill().unwrap();
                // Its quotas do not wait for the disk, and it says so.
                Journal::append_to(&self.journals().join("journal-0"))
                    .note(&format!("crash {}", SystemClock.now().0));
            }
        }
        self.faults.count("servers killed");
    }

    pub(crate) fn restart_server(&mut self) {
        match self.server.as_mut().unwrap() {
            Server::Redis(redis) => redis.restart().unwrap(),
            Server::Postgres(postgres) => postgres.restart().unwrap(),
        }
    }

    /// Holds the journals of this epoch against the store. All clients must have ended.
    pub(crate) fn judge_epoch(&mut self) {
        if let Some(proxy) = &self.proxy {
            self.faults.merge(&proxy.spoiled());
        }
        let journals = self.journals();
        let held = crate::block_on(async { judge::judge(&self.open().await, &journals).await });
        self.held.merge(&held);
        fs::remove_dir_all(journals).unwrap();
    }

    /// The same, and says what was injected and what held.
    pub(crate) fn judge(mut self, what: &str) {
        self.judge_epoch();
        let (faults, held) = (&self.faults, &self.held);
        let count = faults.total();
        say(&format!("{}, {what}: {count} faults injected ({faults}); held: {held}", self.backend.name()));
    }
}

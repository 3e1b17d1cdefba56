//! Every operation of the store on Redis beside a `PING`, which is what a round trip costs.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use interlock_store::{Options, open};
use interlock_sync::store::{
    Admission, Admitted, Attempt, Begun, Change, Content, Ending, Expect, Fingerprint, Key, LeaseAnswer,
    LeaseRequest, Mutation, OpId, PermitRequest, Quota, Store,
};
use interlock_testkit::service::Redis;
use redis::{AsyncConnectionConfig, Client, aio::MultiplexedConnection};

use crate::{
    admission::{call, controlled, end, locking},
    row::{Both, Row},
    sample::{alone, median, microseconds},
    sqlite::make,
};

const ROUNDS: usize = 2_000;
const TTL: Duration = Duration::from_secs(60);

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let server = Redis::start()?;
    alone()?.block_on(async {
        let store = open(&server.url(), &Options::default()).await?;
        let mut bench = Bench { connection: connect(&server).await?, samples: BTreeMap::new(), next: 0 };
        for name in ["a", "b", "c"] {
            make(&*store, &Key::new(name)?).await?;
        }
        // Who reads must have looked before a call of its can be fresh.
        store.admit(&Admission { locks: vec![], ..call("graph")? }).await?;
        for round in 0..ROUNDS {
            // What was measured while the server came to know the scripts does not count.
            if round == ROUNDS / 20 {
                bench.samples.clear();
            }
            bench.next = 0;
            round_of(&mut bench, &*store).await?;
        }
        let peer = format!("PING, Redis {}", bench.version().await?);
        bench.rows(&peer)
    })
}

/// A connection like the store's own: one, shared, and without waiting for more to fill a packet.
async fn connect(server: &Redis) -> Result<MultiplexedConnection> {
    let client = Client::open(format!("{}?protocol=resp3", server.url()))?;
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(Options::default().timeout));
    Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
}

struct Bench {
    connection: MultiplexedConnection,
    /// By the place in the round, so that the rows come in the order of the operations.
    samples: BTreeMap<usize, (&'static str, Vec<f64>, Vec<f64>)>,
    next: usize,
}

impl Bench {
    /// Times an operation, and a `PING` right after it.
    async fn time<T, E>(
        &mut self,
        what: &'static str,
        operation: impl Future<Output = Result<T, E>>,
    ) -> Result<T>
    where
        anyhow::Error: From<E>,
    {
        let start = Instant::now();
        let answer = operation.await?;
        let ours = microseconds(start);
        let start = Instant::now();
        let _: String = redis::cmd("PING").query_async(&mut self.connection).await?;
        let ping = microseconds(start);
        let (_, of_ours, of_ping) = self.samples.entry(self.next).or_insert_with(|| (what, vec![], vec![]));
        of_ours.push(ours);
        of_ping.push(ping);
        self.next += 1;
        Ok(answer)
    }

    fn rows(self, peer: &str) -> Result<Vec<Row>> {
        let rows = self.samples.into_values().map(|(what, ours, ping)| {
            let both = Both { ours: median(ours)?, peer: median(ping)? };
            Ok(Row { what: format!("Redis: {what}"), both, peer: peer.to_owned(), unit: "µs" })
        });
        rows.collect()
    }

    async fn version(&mut self) -> Result<String> {
        let info: String = redis::cmd("INFO").arg("server").query_async(&mut self.connection).await?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        version.map(|version| version.trim().to_owned()).context("Redis said no version")
    }
}

/// Every operation of the port but `sweep`, which asks the server nothing.
async fn round_of(bench: &mut Bench, store: &dyn Store) -> Result<()> {
    records(bench, store).await?;
    leases_and_limits(bench, store).await?;
    let (key, owner) = (Key::new(format!("once:{:?}", OpId::fresh()))?, OpId::fresh());
    let attempt = Attempt { key: key.clone(), fingerprint: Fingerprint([7; 32]), owner, ttl: TTL, keep: TTL };
    let Begun::Reserved { fence } = bench.time("begin", store.begin(&attempt)).await? else {
        bail!("a new key was not free")
    };
    bench.time("dispatch", store.dispatch(&key, fence, TTL)).await?;
    let ending = Ending::Completed(b"done".to_vec());
    bench.time("finish", store.finish(&key, fence, &ending, TTL)).await?;
    bench.time("begin again", store.begin(&attempt)).await?;
    admissions(bench, store).await?;
    let log = Key::new("log")?;
    let appended = bench.time("append", store.append(&OpId::fresh(), &log, b"an entry")).await?;
    let place = appended.place().unwrap_or_default();
    bench.time("read log", store.read_log(&log, place.saturating_sub(1), 10)).await?;
    bench.time("now", store.now()).await?;
    Ok(())
}

/// What a guard asks for with nothing but locks, and with every control there is.
async fn admissions(bench: &mut Bench, store: &dyn Store) -> Result<()> {
    let kinds = [
        (locking("file")?, ["admit, a lock", "prolong, a lock", "settle, a lock"]),
        (controlled("graph")?, ["admit, every control", "prolong, every control", "settle, every control"]),
    ];
    for (call, [admit, prolong, settle]) in kinds {
        let Admitted::Granted { fence } = bench.time(admit, store.admit(&call)).await? else {
            bail!("a call that nobody is before was not admitted")
        };
        let end = end(&call, fence);
        ensure!(
            bench.time(prolong, store.prolong(&end, TTL)).await?,
            "a call that is held was not prolonged"
        );
        ensure!(bench.time(settle, store.settle(&end)).await?, "a call that is held was not settled");
    }
    Ok(())
}

async fn records(bench: &mut Bench, store: &dyn Store) -> Result<()> {
    let (a, b, c) = (Key::new("a")?, Key::new("b")?, Key::new("c")?);
    let mutation = |change| Mutation::new(OpId::fresh(), change);
    bench.time("get", store.get(&a)).await?;
    let put = mutation(Change::Put { key: c, expect: Expect::Any, content: Content::Bytes(vec![b'x'; 100]) });
    bench.time("put", store.mutate(&put)).await?;
    let add = mutation(Change::Add { key: a.clone(), delta: 10, floor: None });
    bench.time("add", store.mutate(&add)).await?;
    let made = Key::new(format!("made:{:?}", OpId::fresh()))?;
    let content = Content::Bytes(vec![b'x'; 100]);
    let make = mutation(Change::Put { key: made.clone(), expect: Expect::Absent, content });
    bench.time("put a new one", store.mutate(&make)).await?;
    let delete = mutation(Change::Delete { key: made, expect: Expect::Any });
    bench.time("delete", store.mutate(&delete)).await?;
    let transfer = mutation(Change::Transfer { from: a, to: b, amount: 5, floor: 0 });
    bench.time("transfer", store.mutate(&transfer)).await?;
    bench.time("applied", store.applied(&transfer.op)).await?;
    bench.time("list", store.list("", None, 10)).await?;
    Ok(())
}

async fn leases_and_limits(bench: &mut Bench, store: &dyn Store) -> Result<()> {
    let key = Key::new("lease")?;
    let wish = LeaseRequest { key: key.clone(), owner: OpId::fresh(), ttl: TTL };
    let LeaseAnswer::Granted { fence } = bench.time("acquire lease", store.acquire_lease(&wish)).await?
    else {
        bail!("a lease that was given back was not free")
    };
    let add = Change::Add { key: Key::new("a")?, delta: 10, floor: None };
    let add = Mutation::new(OpId::fresh(), add).under(key.clone(), fence);
    bench.time("add under a lease", store.mutate(&add)).await?;
    bench.time("renew lease", store.renew_lease(&key, fence, TTL)).await?;
    bench.time("release lease", store.release_lease(&key, fence)).await?;
    let bucket = Quota::bucket(1_000_000, Duration::from_secs(1))?;
    bench.time("take from a bucket", store.take(&Key::new("bucket")?, &bucket, 1)).await?;
    let log = Quota::log(50, Duration::from_millis(20))?;
    bench.time("take from a log", store.take(&Key::new("quota")?, &log, 1)).await?;
    let caller = Key::new("caller")?;
    let wish = PermitRequest { key: caller.clone(), holder: OpId::fresh(), limit: 10, ttl: TTL };
    bench.time("acquire permit", store.acquire_permit(&wish)).await?;
    bench.time("renew permit", store.renew_permit(&caller, &wish.holder, TTL)).await?;
    bench.time("release permit", store.release_permit(&caller, &wish.holder)).await?;
    Ok(())
}

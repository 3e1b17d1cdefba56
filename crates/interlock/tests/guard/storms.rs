//! Three replicas on one store that is killed again and again, with callers that cancel, call without an id, and send again what they lost.
//!
//! What must hold: at most one call at a time, nothing that was sent under one key runs twice, nothing that was acknowledged is missing, and a call
//! without an id runs never. On a Redis that was told to keep nothing the second cannot hold, and is not asked.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use interlock_testkit::service::{Postgres, Redis, Setup};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    effects::{Effects, configured},
    kit::{Serving, scratch, times},
    raw::Raw,
    spell::Chance,
};

const REPLICAS: usize = 3;
/// Of each replica.
const CALLERS: usize = 3;
/// How many calls are acknowledged between two crashes of the store.
const BETWEEN: usize = 12;
/// How often a call is sent again, with pauses of up to 100 ms: much longer than a store is away.
const TRIES: u32 = 2_000;

/// How long a call may hold what it has: so long that a slow machine is no fault.
const LONG: &str = "timeout = \"1min\"\ngrace = \"10s\"\n";
/// And where a call is held up by as much after every crash.
const SHORT: &str = "timeout = \"6s\"\ngrace = \"2s\"\n";

/// What is done to the store.
trait Store {
    fn url(&self) -> String;
    fn crash(&mut self);
}

impl Store for Postgres {
    fn url(&self) -> String {
        Self::url(self)
    }

    fn crash(&mut self) {
        self.kill().expect("it can be killed");
        self.restart().expect("it comes back");
    }
}

/// A Redis, and what it keeps through a crash.
struct Kept(Redis, Keeps);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// An append-only file that is flushed so often.
    File(&'static str),
    /// What was there when it was last restarted.
    Snapshot,
    Nothing,
}

impl Kept {
    fn start(keeps: Keeps) -> Self {
        let setup = Setup { durable: matches!(keeps, Keeps::File(_)), ..Setup::default() };
        let kept = Self(Redis::start_as(setup).expect("Redis starts"), keeps);
        kept.set();
        kept
    }

    fn set(&self) {
        match self.1 {
            Keeps::File(fsync) => self.tell(&format!("CONFIG SET appendfsync {fsync}")),
            Keeps::Snapshot => self.tell("SAVE"),
            Keeps::Nothing => {}
        }
    }

    fn tell(&self, command: &str) {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(self.0.address()).expect("it listens");
        write!(stream, "{command}\r\n").expect("it reads");
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).expect("it answers");
        assert_eq!(&answer, b"+OK\r\n", "{command}");
    }
}

impl Store for Kept {
    fn url(&self) -> String {
        self.0.url()
    }

    fn crash(&mut self) {
        self.0.kill().expect("it can be killed");
        self.0.restart().expect("it comes back");
        self.set();
    }
}

/// A Redis that is emptied while it runs.
struct Emptied(Kept);

impl Store for Emptied {
    fn url(&self) -> String {
        self.0.url()
    }

    fn crash(&mut self) {
        self.0.tell("FLUSHALL");
    }
}

/// What callers did, and what they were told.
#[derive(Default)]
struct Told {
    acknowledged: Mutex<BTreeSet<String>>,
    sent: AtomicUsize,
    cancelled: AtomicUsize,
    without_id: AtomicUsize,
    is_over: AtomicBool,
}

impl Told {
    fn count(&self) -> usize {
        self.acknowledged.lock().expect("nobody panicked").len()
    }
}

/// Sends a call under its key until it is acknowledged, or cancels it on the way and lets it be.
async fn insist(client: &Raw, name: &str, chance: &mut Chance, told: &Told) {
    let meta = json!({ "dev.interlock/idempotency-key": name });
    let arguments = json!({ "name": name, "ms": chance.next() % 4 });
    let params = json!({ "name": "do", "arguments": arguments, "_meta": meta });
    let is_cancelled = chance.next().is_multiple_of(5);
    for attempt in 0..TRIES {
        let id = format!("{name}/{attempt}");
        told.sent.fetch_add(1, Relaxed);
        let call = client.call(json!(id), &params);
        if is_cancelled {
            let patience = Duration::from_millis(chance.next() % 20);
            if tokio::time::timeout(patience, call).await.is_err() {
                let params = json!({ "requestId": id, "reason": "timed out" });
                let cancel =
                    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                let _ = client.post(cancel.to_string()).await;
                told.cancelled.fetch_add(1, Relaxed);
            }
            return;
        }
        let message = call.await.expect("the guard is there").message().expect("an answer");
        let result = &message["result"];
        if !result.is_null() && result["isError"] != true {
            told.acknowledged.lock().expect("nobody panicked").insert(name.to_owned());
            return;
        }
        // Nobody knows whether it ran: then only its key says that it must not run again, and it is let be.
        if matches!(result["_meta"]["dev.interlock/refusal"]["reason"].as_str(), Some("in-doubt" | "lost")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(chance.next() % 100)).await;
    }
    panic!("{name} was sent {TRIES} times");
}

/// One caller, until it is over.
async fn call_on(client: Raw, number: usize, told: Arc<Told>) {
    let mut chance = Chance::new(number as u64);
    for call in 0.. {
        if told.is_over.load(Relaxed) {
            return;
        }
        if chance.next().is_multiple_of(7) {
            let arguments = json!({ "name": format!("without-id-{number}-{call}") });
            let params = json!({ "name": "do", "arguments": arguments });
            let body = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params });
            let status = client.post(body.to_string()).await.expect("the guard is there").status;
            assert_eq!(status, 400);
            told.without_id.fetch_add(1, Relaxed);
        }
        insist(&client, &format!("{number}-{call}"), &mut chance, &told).await;
    }
}

fn replica(effects: &Effects, state: &str, more: &str, held: &str) -> (tempfile::TempDir, Serving) {
    let folder = scratch();
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let policy = format!(
        "[state]\nurl = \"{state}\"\n{more}\n[defaults]\nwait = \"20s\"\n{held}keep = \"1h\"\n\n\
         [[tool]]\nmatch = \"do\"\nlock = \"it\"\nidempotency = \"meta\"\n\n\
         [[upstream]]\nname = \"effects\"\ncommand = {command}\n"
    );
    let guard = configured(folder.path(), &policy).logging_to(&folder.path().join("log")).serve();
    (folder, guard)
}

async fn storm(name: &str, store: &mut dyn Store, more: &str, held: &str, keeps: bool) {
    let (effects, told) = (Effects::new(), Arc::<Told>::default());
    let replicas: Vec<_> = (0..REPLICAS).map(|_| replica(&effects, &store.url(), more, held)).collect();
    let mut callers = JoinSet::new();
    for number in 0..REPLICAS * CALLERS {
        let client = Raw::connected(&replicas[number % REPLICAS].1.url).await;
        callers.spawn(call_on(client, number, Arc::clone(&told)));
    }
    let crashes = times("INTERLOCK_GUARD_RUNS", 2);
    for crash in 1..=crashes {
        let wanted = crash * BETWEEN;
        let patience = std::time::Instant::now() + Duration::from_secs(300);
        while told.count() < wanted {
            assert!(std::time::Instant::now() < patience, "{name}: nothing goes on: {}", told.count());
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
                Some(ended) = callers.join_next() => ended.expect("no caller panics"),
            }
        }
        store.crash();
    }
    let before = told.count();
    let patience = std::time::Instant::now() + Duration::from_secs(300);
    while told.count() < before + BETWEEN {
        assert!(std::time::Instant::now() < patience, "{name}: nothing goes on after the last crash");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    told.is_over.store(true, Relaxed);
    while let Some(ended) = callers.join_next().await {
        ended.expect("no caller panics");
    }
    for (_, guard) in &replicas {
        guard.signal("TERM");
    }
    for (_, guard) in replicas {
        // A call that was cancelled may have been under way, and is finished.
        assert!(guard.ended().await.is_some());
    }
    judge(name, &effects, &told, keeps);
    println!(
        "{name}: {REPLICAS} replicas, {crashes} crashes of the store, {} calls sent, {} cancelled, {} without an id; {} acknowledged, one at a time",
        told.sent.load(Relaxed),
        told.cancelled.load(Relaxed),
        told.without_id.load(Relaxed),
        told.count()
    );
}

/// Whether everything held.
fn judge(name: &str, effects: &Effects, told: &Told, keeps: bool) {
    let (mut running, mut ended) = (None::<String>, Vec::<String>::new());
    for line in effects.all() {
        match line.split_once(' ') {
            Some(("begin", call)) => {
                assert!(!call.starts_with("without-id"), "{name}: {call} ran");
                assert_eq!(running.replace(call.to_owned()), None, "{name}: {call} began beside another");
            }
            Some(("end", call)) => {
                assert_eq!(running.take().as_deref(), Some(call), "{name}: {call} ended");
                ended.push(call.to_owned());
            }
            _ => {}
        }
    }
    let once: BTreeSet<String> = ended.iter().cloned().collect();
    let acknowledged = told.acknowledged.lock().expect("nobody panicked");
    let missing: Vec<_> = acknowledged.difference(&once).collect();
    assert!(missing.is_empty(), "{name}: acknowledged and missing: {missing:?}");
    if keeps {
        assert_eq!(once.len(), ended.len(), "{name}: something ran twice: {ended:?}");
    }
}

/// What one caller has waiting on all replicas holds another caller up by no more than a call for each replica and its own.
async fn fair(state: &str) {
    const WAITING: usize = 500;
    let effects = Effects::new();
    let admin: Vec<String> = (0..2).map(|_| crate::kit::free_address()).collect();
    let keys = "[[identity.api_key]]\nname = \"a\"\nenv = \"KEY_A\"\n\n[[identity.api_key]]\nname = \"b\"\nenv = \"KEY_B\"\n";
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let policy = format!(
        "[state]\nurl = \"{state}\"\n\n[defaults]\nwait = \"1h\"\ntimeout = \"1h\"\nqueue = {WAITING}\n\n\
         [[tool]]\nmatch = \"do\"\nlock = \"it\"\n\n{keys}\n[[upstream]]\nname = \"effects\"\ncommand = {command}\n"
    );
    let folder = scratch();
    let replicas: Vec<Serving> = admin
        .iter()
        .map(|admin| {
            let line = configured(folder.path(), &policy).with(&["--admin", admin]);
            line.env("KEY_A", "the-secret-of-caller-a").env("KEY_B", "the-secret-of-caller-b").serve()
        })
        .collect();
    let mut callers = JoinSet::new();
    let [as_a, as_b] = ["the-secret-of-caller-a", "the-secret-of-caller-b"]
        .map(|key| replicas.iter().map(|replica| Raw::known(&replica.url, key)).collect::<Vec<_>>());
    let call = |client: &Raw, name: String, until: Option<&std::path::Path>| {
        let arguments = match until {
            Some(until) => json!({ "name": name, "ms": 600_000, "until": until }),
            None => json!({ "name": name }),
        };
        let params = json!({ "name": "do", "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "storm", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = client.request(body.to_string()).header("mcp-protocol-version", "2026-07-28");
        let request = request.header("mcp-method", "tools/call").header("mcp-name", "do");
        async move { Raw::read(request).await.is_ok_and(|came| came.status == 200) }
    };
    let waiting = async |at: &str| {
        let page = crate::operations::get(at, "/metrics").await.1;
        let line =
            page.lines().find_map(|line| line.strip_prefix("interlock_guard_calls_waiting{tool=\"do\"} "));
        line.and_then(|count| count.parse::<usize>().ok()).unwrap_or_default()
    };
    let end = effects.file("end");
    callers.spawn(call(&as_a[0], "first".into(), Some(end.as_path())));
    crate::kit::until("it has begun", || effects.began() == 1).await;
    for number in 0..WAITING * 2 {
        callers.spawn(call(&as_a[number % 2], format!("a{number}"), None));
    }
    for at in &admin {
        while waiting(at).await < WAITING {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let other = tokio::spawn(call(&as_b[1], "b".into(), None));
    while waiting(&admin[1]).await < WAITING + 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    std::fs::write(&end, "").expect("it is written");
    assert!(other.await.expect("no panic"));
    let began: Vec<String> =
        effects.all().iter().filter_map(|line| Some(line.strip_prefix("begin ")?.to_owned())).collect();
    let before = began.iter().position(|name| name == "b").expect("it ran");
    println!(
        "of {} waiting calls of one caller on two replicas, {} were served before the other caller's",
        WAITING * 2,
        before - 1
    );
    // Each replica has its first in line stand in the store's line, and that may have been before the other caller came.
    assert!(before <= 1 + 2 * replicas.len(), "{before} calls before it: {:?}", &began[..before.min(20)]);
    callers.abort_all();
    drop(replicas);
    while callers.join_next().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_that_crashes_nothing_runs_twice_or_beside_another() {
    let mut postgres = Postgres::start().expect("PostgreSQL starts");
    storm("PostgreSQL", &mut postgres, "", LONG, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_redis_that_is_killed_nothing_runs_twice_or_beside_another() {
    for fsync in ["always", "everysec"] {
        storm(&format!("Redis, appendfsync {fsync}"), &mut Kept::start(Keeps::File(fsync)), "", LONG, true)
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_redis_that_keeps_nothing_no_call_runs_beside_another() {
    for (name, keeps) in [("nothing", Keeps::Nothing), ("a snapshot", Keeps::Snapshot)] {
        let name = format!("Redis that keeps {name}");
        storm(&name, &mut Kept::start(keeps), "durability = \"none\"\n", SHORT, false).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_redis_that_is_emptied_no_call_runs_beside_another() {
    let mut redis = Emptied(Kept::start(Keeps::File("always")));
    storm("Redis that is emptied", &mut redis, "", SHORT, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_callers_thousand_calls_on_two_replicas_hold_another_caller_up_by_few() {
    let redis = Kept::start(Keeps::File("always"));
    fair(&redis.url()).await;
}

/// That a value was read at all: a judge that reads nothing is content with everything.
#[test]
fn the_judge_can_fail() {
    let effects = Effects::new();
    let of = |lines: &str, acknowledged: &[&str]| {
        std::fs::write(effects.file("effects"), lines).expect("it is written");
        let told = Told::default();
        *told.acknowledged.lock().expect("nobody panicked") =
            acknowledged.iter().map(|name| (*name).to_owned()).collect();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge("it", &effects, &told, true))).is_ok()
    };
    assert!(of("begin a\nend a\nbegin b\nend b\n", &["a"]));
    assert!(!of("begin a\nbegin b\nend a\nend b\n", &[]), "beside another");
    assert!(!of("begin a\nend a\nbegin a\nend a\n", &["a"]), "twice");
    assert!(!of("begin a\nend a\n", &["a", "b"]), "missing");
    assert!(!of("begin without-id-1\nend without-id-1\n", &[]));
}

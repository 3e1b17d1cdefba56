//! Clients that do not wait: they cancel calls, or time out, in front of servers made with the official SDKs, in both eras of the protocol.
//!
//! Such a server says nothing more of a call that was cancelled, while its handler goes on. The next writer gets through when the handler has ended, and
//! whatever was acknowledged is kept.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use interlock_testkit::packages;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{task::JoinSet, time::timeout};

use crate::{
    effects::configured,
    kit::{Line, Serving, official, scratch, times, until},
    raw::Raw,
    spell::Chance,
};

const HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// How many acknowledged writes a test waits for, and by how many clients.
const WRITES: usize = 200;
const CLIENTS: usize = 8;

/// Which SDK a server is made with.
#[derive(Debug, Clone, Copy)]
enum Sdk {
    /// TypeScript, `@modelcontextprotocol/sdk` 1.x.
    TypeScript1,
    /// TypeScript, `@modelcontextprotocol/server` 2.x.
    TypeScript2,
    /// Python, `mcp` 2.x.
    Python,
}

/// A server that keeps a list of names in a file, and its file.
struct Journal {
    folder: TempDir,
    command: Vec<String>,
    modules: PathBuf,
}

impl Journal {
    fn new(sdk: Sdk) -> Self {
        let folder = scratch();
        let file = folder.path().join("names").display().to_string();
        let source = |name: &str| format!("{}/tests/guard/{name}", env!("CARGO_MANIFEST_DIR"));
        let installed = |name| packages::installed(env!("CARGO_TARGET_TMPDIR"), name);
        let node =
            |version: &str| vec!["node".to_owned(), source("journal.mjs"), version.to_owned(), file.clone()];
        let command = match sdk {
            Sdk::TypeScript1 => node("1"),
            Sdk::TypeScript2 => node("2"),
            Sdk::Python => {
                let python = installed("mcp2").join("bin/python").display().to_string();
                vec![python, "-B".to_owned(), source("journal.py"), file]
            }
        };
        Self { folder, command, modules: installed("node") }
    }

    /// A guard in front of it that was told nothing.
    fn guarded(&self) -> Serving {
        Line::bare(&self.command)
            .env("SERVER_MODULES", &self.modules)
            .guarded(&["--listen", "127.0.0.1:0"])
            .logging_to(&self.file("log"))
            .serve()
    }

    /// The same with a policy.
    fn configured(&self, policy: &str) -> Serving {
        let (command, modules) = (json!(self.command), json!(self.modules));
        let upstream = format!(
            "[[upstream]]\nname = \"journal\"\ncommand = {command}\nenv = {{ SERVER_MODULES = {modules} }}\n"
        );
        let text = format!("[audit]\npath = {}\n{policy}\n{upstream}", json!(self.file("audit")));
        configured(self.folder.path(), &text).logging_to(&self.file("log")).serve()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, what: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(what)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn has_begun(&self, name: &str) -> bool {
        self.lines("names.begun").iter().any(|begun| begun == name)
    }

    /// The list, once all that began has ended.
    async fn names(&self) -> Vec<String> {
        until("all have ended", || self.lines("names.begun").len() == self.lines("names.ended").len()).await;
        let text = std::fs::read_to_string(self.file("names")).expect("there is a list");
        serde_json::from_str(&text).expect("it is whole")
    }
}

/// A client of one era.
#[derive(Clone)]
struct Client {
    raw: Raw,
    version: &'static str,
}

impl Client {
    async fn of(guard: &Serving, version: &'static str) -> Self {
        let raw = match version {
            STATELESS => Raw::new(&guard.url),
            _ => Raw::speaking(&guard.url, version).await,
        };
        Self { raw, version }
    }

    /// Adds a name; whether that was acknowledged. Whoever drops this closes the stream of the answer.
    async fn add(&self, id: u64, arguments: Value) -> bool {
        let mut params = json!({ "name": "add", "arguments": arguments });
        if self.version == STATELESS {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": { "name": "impatient", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let mut request = self.raw.request(call.to_string());
        if self.version == STATELESS {
            request = request.header("mcp-protocol-version", STATELESS);
            request = request.header("mcp-method", "tools/call").header("mcp-name", "add");
        }
        let came = Raw::read(request).await.expect("it answers").message();
        came.is_some_and(|came| came["result"]["content"][0]["text"] == "added")
    }

    /// Says that a call is not waited for any more. Without a handshake its stream was closed, which says it.
    async fn cancel(&self, id: u64) {
        if self.version != STATELESS {
            let params = json!({ "requestId": id, "reason": "timed out" });
            let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            assert_eq!(self.raw.post(told.to_string()).await.expect("it answers").status, 202);
        }
    }

    /// Begins a call that goes on until there is a file, and cancels it.
    async fn begin_and_cancel(&self, journal: &Journal, end: &str) {
        let (client, arguments) =
            (self.clone(), json!({ "name": "first", "ms": 600_000, "until": journal.file(end) }));
        let call = tokio::spawn(async move { client.add(1, arguments).await });
        until("it has begun", || journal.has_begun("first")).await;
        self.cancel(1).await;
        call.abort();
        let _ = call.await;
    }
}

/// After a cancelled call the next writer gets through as soon as the handler has ended, and not before.
async fn next_writer(sdk: Sdk, version: &'static str) {
    let journal = Journal::new(sdk);
    let guard = journal.guarded();
    let client = Client::of(&guard, version).await;
    client.begin_and_cancel(&journal, "end").await;
    let next = client.clone();
    let next = tokio::spawn(async move { next.add(2, json!({ "name": "second" })).await });
    std::fs::write(journal.file("end"), "").expect("it is written");
    assert!(next.await.expect("no panic"), "{sdk:?}, {version}: the next writer is refused");
    assert_eq!(journal.names().await, ["first", "second"], "{sdk:?}, {version}");
}

/// Clients that time out at random lose nothing that was acknowledged.
async fn kept(sdk: Sdk, version: &'static str) {
    let journal = Arc::new(Journal::new(sdk));
    let guard = journal.guarded();
    let first = Client::of(&guard, version).await;
    // The first one also finds out how the server is to be spoken to.
    assert!(first.add(0, json!({ "name": "warm", "ms": 5 })).await, "{sdk:?}, {version}");
    let began = Instant::now();
    assert!(first.add(1, json!({ "name": "up", "ms": 5 })).await, "{sdk:?}, {version}");
    let patience = began.elapsed().as_millis();
    let patience = u64::try_from(patience).unwrap_or(u64::MAX).max(10) * CLIENTS as u64;
    let wanted = WRITES * times("INTERLOCK_GUARD_RUNS", 1);
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let cancelled = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::of(&guard, version).await;
        let (acknowledged, cancelled) = (Arc::clone(&acknowledged), Arc::clone(&cancelled));
        clients.spawn(async move {
            let mut chance = Chance::new(number as u64);
            for id in 1.. {
                let count = acknowledged.lock().expect("nobody panicked").len();
                if count >= wanted && cancelled.load(Relaxed) >= wanted / 10 {
                    break;
                }
                let name = format!("{number}-{id}");
                let call = client.add(id, json!({ "name": name, "ms": 5 }));
                match timeout(Duration::from_millis(chance.next() % patience), call).await {
                    Ok(true) => drop(acknowledged.lock().expect("nobody panicked").insert(name)),
                    Ok(false) => {}
                    Err(_) => {
                        client.cancel(id).await;
                        cancelled.fetch_add(1, Relaxed);
                    }
                }
            }
        });
    }
    clients.join_all().await;
    let cancelled = cancelled.load(Relaxed);
    let names: BTreeSet<_> = journal.names().await.into_iter().collect();
    let acknowledged = acknowledged.lock().expect("nobody panicked");
    let kept = acknowledged.intersection(&names).count();
    let ran_on = names.difference(&acknowledged).count() - 2;
    println!(
        "{sdk:?}, {version}: {kept} of {} acknowledged writes kept; {cancelled} cancelled, of which {ran_on} ran on",
        acknowledged.len()
    );
    assert_eq!(kept, acknowledged.len(), "{sdk:?}, {version}");
    assert!(kept >= wanted, "{sdk:?}, {version}: {kept} kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_writer_gets_through_when_a_cancelled_handler_has_ended() {
    next_writer(Sdk::TypeScript1, HANDSHAKE).await;
    next_writer(Sdk::TypeScript2, HANDSHAKE).await;
    next_writer(Sdk::TypeScript2, STATELESS).await;
    next_writer(Sdk::Python, HANDSHAKE).await;
    next_writer(Sdk::Python, STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_time_out_at_random_lose_nothing_in_typescript() {
    kept(Sdk::TypeScript1, HANDSHAKE).await;
    kept(Sdk::TypeScript2, STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_time_out_at_random_lose_nothing_in_python() {
    kept(Sdk::Python, HANDSHAKE).await;
    kept(Sdk::Python, STATELESS).await;
}

/// Adds an entity to the graph of the official memory server; whether that was acknowledged.
async fn remember(client: &Raw, id: u64, name: &str) -> bool {
    let entity = json!({ "name": name, "entityType": "test", "observations": [] });
    let call = json!({ "name": "create_entities", "arguments": { "entities": [entity] } });
    let came = client.call(json!(id), &call).await.expect("it answers").message().expect("a message");
    came["result"]["isError"] != true && came["error"].is_null()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_time_out_at_random_lose_nothing_on_the_official_memory_server() {
    let folder = scratch();
    let file = folder.path().join("memory.jsonl");
    let guard = Line::bare(&["node", &official("server-memory")])
        .env("MEMORY_FILE_PATH", &file)
        .guarded(&["--listen", "127.0.0.1:0"])
        .serve();
    let first = Raw::speaking(&guard.url, HANDSHAKE).await;
    assert!(remember(&first, 1, "warm").await);
    let began = Instant::now();
    assert!(remember(&first, 2, "up").await);
    let patience = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(10) * CLIENTS as u64;
    let wanted = WRITES * times("INTERLOCK_GUARD_RUNS", 1);
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let cancelled = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Raw::speaking(&guard.url, HANDSHAKE).await;
        let (acknowledged, cancelled) = (Arc::clone(&acknowledged), Arc::clone(&cancelled));
        clients.spawn(async move {
            let mut chance = Chance::new(number as u64);
            for id in 1.. {
                let count = acknowledged.lock().expect("nobody panicked").len();
                if count >= wanted && cancelled.load(Relaxed) >= wanted / 10 {
                    break;
                }
                let name = format!("{number}-{id}");
                let limit = Duration::from_millis(chance.next() % patience);
                match timeout(limit, remember(&client, id, &name)).await {
                    Ok(true) => drop(acknowledged.lock().expect("nobody panicked").insert(name)),
                    Ok(false) => panic!("{name} is refused"),
                    Err(_) => {
                        let params = json!({ "requestId": id, "reason": "timed out" });
                        let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                        assert_eq!(client.post(told.to_string()).await.expect("it answers").status, 202);
                        cancelled.fetch_add(1, Relaxed);
                    }
                }
            }
        });
    }
    clients.join_all().await;
    // A last write stands in line behind all that were cancelled and run on.
    assert!(remember(&first, 3, "last").await);
    let text = std::fs::read_to_string(&file).expect("there is a graph");
    let names: BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("it is whole"))
        .filter_map(|line| Some(line["name"].as_str()?.to_owned()))
        .collect();
    let acknowledged = acknowledged.lock().expect("nobody panicked");
    let kept = acknowledged.intersection(&names).count();
    println!(
        "the memory server: {kept} of {} acknowledged writes kept; {} cancelled, of which {} ran on",
        acknowledged.len(),
        cancelled.load(Relaxed),
        names.difference(&acknowledged).count() - 3
    );
    assert_eq!(kept, acknowledged.len());
    assert!(kept >= wanted, "{kept} kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_is_passed_on_holds_for_a_grace_and_leaves_an_unknown_end() {
    let policy =
        "[defaults]\ngrace = \"1s\"\n[[tool]]\nmatch = \"add\"\nlock = \"list\"\ncancel = \"pass\"\n";
    for (sdk, version) in [(Sdk::TypeScript1, HANDSHAKE), (Sdk::TypeScript2, STATELESS)] {
        let journal = Journal::new(sdk);
        let guard = journal.configured(policy);
        let client = Client::of(&guard, version).await;
        client.begin_and_cancel(&journal, "never").await;
        assert!(client.add(2, json!({ "name": "second" })).await, "{sdk:?}, {version}: the grace is over");
        let ended = || {
            let lines =
                journal.lines("audit").into_iter().filter_map(|line| serde_json::from_str(&line).ok());
            lines
                .filter(|line: &Value| line["event"] == "ended" && line["ending"] == "unknown")
                .collect::<Vec<_>>()
        };
        until("it is written down", || !ended().is_empty()).await;
        let line = &ended()[0];
        assert!(line["reason"].as_str().is_some_and(|reason| reason.contains("cancelled")), "{line}");
        assert!(!line["note"].is_null(), "{line}");
    }
}

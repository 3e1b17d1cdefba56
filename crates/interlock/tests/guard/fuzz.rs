//! Messages that nobody should send: random and malformed ones, in front of a server that runs whatever it gets. Nothing runs that the policy denies,
//! nothing more often than it allows, and the server hears no notification but those that clients of the revision send.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
};

use serde_json::{Value, json};

use crate::{
    kit::{INTERLOCK, Line, scratch, times},
    raw::Raw,
    spell::Speller,
};

/// How many messages one test sends.
const MESSAGES: usize = 1_500;

/// Denied, bounded to one call in an hour, and free.
const POLICY: &str = r#"
[[tool]]
match = "pay"
deny = true

[[tool]]
match = "refund"
rate = "1/h"
"#;

const HANDSHAKE_TELLS: [&str; 5] = [
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];

fn eager(deeds: &Path) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guard/eager.py");
    ["python3", script].map(str::to_owned).into_iter().chain([deeds.display().to_string()]).collect()
}

/// The configuration of a guard in front of it.
fn configured(folder: &Path) -> String {
    let command = json!(eager(&folder.join("deeds")));
    let audit = folder.join("audit");
    let text = format!(
        "[audit]\npath = {:?}\n{POLICY}\n[[upstream]]\nname = \"eager\"\ncommand = {command}\n",
        audit.display().to_string()
    );
    let path = folder.join("guard.toml");
    std::fs::write(&path, text).expect("it is written");
    path.display().to_string()
}

/// How often it did what.
fn deeds(folder: &Path) -> BTreeMap<String, usize> {
    let mut deeds = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("deeds")).unwrap_or_default().lines() {
        *deeds.entry(line.to_owned()).or_default() += 1;
    }
    deeds
}

fn assert_was_kept_to(folder: &Path, tells: &[&str], what: &str) {
    let deeds = deeds(folder);
    let ran = |name: &str| deeds.get(&format!("ran {name}")).copied().unwrap_or_default();
    assert_eq!(ran("pay"), 0, "{what}: it is denied");
    assert!(ran("refund") <= 1, "{what}: once an hour, not {} times", ran("refund"));
    assert!(ran("look") > 10, "{what}: what is allowed passes: {deeds:?}");
    let told: Vec<_> = deeds.keys().filter_map(|deed| deed.strip_prefix("told ")).collect();
    assert!(told.iter().all(|method| tells.contains(method)), "{what}: {told:?}");
}

/// A process on whose standard input anything can be written.
struct Typed {
    child: Child,
    input: ChildStdin,
    /// What it says, read all the time: it would not go on if nobody did.
    lines: mpsc::Receiver<String>,
}

impl Typed {
    fn start(command: &[String]) -> Self {
        let (program, arguments) = command.split_first().expect("a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (heard, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| heard.send(line)));
        Self { child, input, lines }
    }

    fn guard(folder: &Path) -> Self {
        Self::start(&[INTERLOCK, "guard", "--config", &configured(folder)].map(str::to_owned))
    }

    fn say(&mut self, line: &[u8]) {
        self.input.write_all(line).and_then(|()| self.input.write_all(b"\n")).expect("it reads");
    }

    /// Asks something, and reads on until it is answered.
    fn ask(&mut self, message: &Value) -> Value {
        self.say(message.to_string().as_bytes());
        loop {
            let line = self.lines.recv().expect("it has not ended");
            // Ids come back as they were, also those that are JSON and not everybody can read.
            let Ok(heard) = serde_json::from_str::<Value>(&line) else { continue };
            if heard["id"] == message["id"] && heard["method"].is_null() {
                return heard;
            }
        }
    }

    fn greet(&mut self, version: &str) {
        let info = json!({ "name": "fuzz", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        self.ask(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }));
    }

    /// Waits until all that was said before was heeded.
    fn settle(&mut self, speller: &Speller) {
        let params = speller.stated(json!({ "name": "look", "arguments": {} }));
        self.ask(&json!({ "jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": params }));
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn messages() -> usize {
    times("INTERLOCK_GUARD_RUNS", 1) * MESSAGES
}

#[test]
fn without_a_guard_it_runs_what_these_messages_say() {
    let folder = scratch();
    let mut server = Typed::start(&eager(&folder.path().join("deeds")));
    let mut speller = Speller::new(1, "2025-11-25");
    for _ in 0..MESSAGES {
        server.say(&speller.line());
    }
    let last = json!({ "jsonrpc": "2.0", "id": 987_654_321, "method": "ping" });
    server.ask(&last);
    let deeds = deeds(folder.path());
    assert!(deeds.get("ran pay").is_some_and(|count| *count > 100), "{deeds:?}");
    assert!(deeds.get("ran refund").is_some_and(|count| *count > 100), "{deeds:?}");
    assert!(deeds.contains_key("told resources/read"), "{deeds:?}");
}

#[test]
fn over_stdio_nothing_runs_that_is_denied() {
    for (seed, version) in [(2, "2025-11-25"), (3, "2025-03-26"), (4, "2026-07-28")] {
        let folder = scratch();
        let mut guard = Typed::guard(folder.path());
        let mut speller = Speller::new(seed, version);
        let tells = if version == "2026-07-28" {
            &HANDSHAKE_TELLS[..1]
        } else {
            guard.greet(version);
            &HANDSHAKE_TELLS[..]
        };
        for _ in 0..messages() {
            guard.say(&speller.line());
        }
        guard.settle(&speller);
        assert_was_kept_to(folder.path(), tells, &format!("{version}, seed {seed}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_nothing_runs_that_is_denied() {
    for (seed, version) in [(5, "2025-11-25"), (6, "2025-03-26"), (7, "2026-07-28")] {
        let folder = scratch();
        let guard = Line::bare(&[
            INTERLOCK,
            "guard",
            "--listen",
            "127.0.0.1:0",
            "--config",
            &configured(folder.path()),
        ])
        .logging_to(&folder.path().join("log"))
        .serve();
        let mut speller = Speller::new(seed, version);
        let is_stateless = version == "2026-07-28";
        let raw = if is_stateless { Raw::new(&guard.url) } else { Raw::speaking(&guard.url, version).await };
        for _ in 0..messages() {
            let mut request = raw.request(speller.line());
            if is_stateless {
                for (name, value) in speller.headers() {
                    request = request.header(name, value);
                }
            }
            let answer = request.send().await.expect("it answers");
            let _ = answer.bytes().await;
        }
        // A server that everybody shares is told nothing by its clients but that the guard greets it.
        assert_was_kept_to(folder.path(), &HANDSHAKE_TELLS[1..2], &format!("{version}, seed {seed}"));
    }
}

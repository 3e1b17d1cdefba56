//! What becomes of what a guard held that is killed.

use std::{path::Path, process::Command};

use interlock_testkit::service::{Redis, Setup};
use serde_json::{Value, json};

use crate::{
    effects::{Effects, configured},
    kit::{Client, Line, Said, Serving, scratch, until},
};

/// One at a time. Who waits does so for much less than what is held is held for by itself.
const LOCKED: &str = "[defaults]\nwait = \"60s\"\ntimeout = \"10min\"\n\n[[tool]]\nmatch = \"do\"\nlock = \"it\"\nidempotency = \"meta\"\n\n";
const SHORT: &str =
    "[defaults]\nwait = \"2s\"\ntimeout = \"10min\"\n\n[[tool]]\nmatch = \"do\"\nlock = \"it\"\n\n";

/// A guard in front of a server, with its state there.
fn guard(effects: &Effects, name: &str, state: &str, policy: &str, upstream: &str) -> Line {
    let folder = effects.file(name);
    std::fs::create_dir_all(&folder).expect("there is room");
    let text = format!("[state]\nurl = \"{state}\"\n\n{policy}[[upstream]]\nname = \"effects\"\n{upstream}");
    configured(&folder, &text)
}

fn program(effects: &Effects) -> String {
    format!("command = {}\n", serde_json::to_string(&effects.command()).expect("it is JSON, and TOML"))
}

fn sqlite(effects: &Effects) -> String {
    format!("sqlite:{}", effects.file("state.db").display())
}

/// A call that takes for ever, which has begun.
async fn endless(client: &Client, effects: &Effects) {
    let client = client.clone();
    let before = effects.began();
    tokio::spawn(
        async move { client.try_call("do", json!({ "name": "endless", "ms": 1_000_000_000 })).await },
    );
    until("it has begun", || effects.began() > before).await;
}

fn kill(mut guard: Serving) {
    guard.child.kill().expect("it is ours");
    guard.child.wait().expect("it is gone");
}

async fn brief(client: &Client) -> Said {
    client.call("do", json!({ "name": "brief" })).await
}

fn refusal(said: &Said) -> &Value {
    &said.result["_meta"]["dev.interlock/refusal"]["reason"]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_was_killed_is_not_locked_out_by_its_former_self() {
    let effects = Effects::new();
    let line = guard(&effects, "a", &sqlite(&effects), LOCKED, &program(&effects));
    let first = line.serve();
    endless(&first.client().await, &effects).await;
    kill(first);
    let said = brief(&line.serve().client().await).await;
    assert!(!said.is_error, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_over_from_one_that_was_killed_and_not_from_one_that_is_stopped() {
    let (effects, redis) =
        (Effects::new(), Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts"));
    let program = program(&effects);
    let (first, second) = (
        guard(&effects, "a", &redis.url(), SHORT, &program).env("XDG_RUNTIME_DIR", effects.file("")).serve(),
        guard(&effects, "b", &redis.url(), SHORT, &program).env("XDG_RUNTIME_DIR", effects.file("")).serve(),
    );
    endless(&first.client().await, &effects).await;
    let client = second.client().await;
    first.signal("STOP");
    for _ in 0..3 {
        let said = brief(&client).await;
        assert_eq!(refusal(&said), "locked", "a stopped guard is not a dead one: {said:?}");
    }
    kill(first);
    loop {
        let said = brief(&client).await;
        if !said.is_error {
            break;
        }
        assert_eq!(refusal(&said), "locked", "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_at_a_server_elsewhere_stays_held() {
    let effects = Effects::new();
    let far = effects.over_http("handshake");
    let upstream = format!("url = \"{}\"\n", far.url);
    let line = guard(&effects, "a", &sqlite(&effects), SHORT, &upstream);
    let first = line.serve();
    endless(&first.client().await, &effects).await;
    kill(first);
    let second = line.serve();
    let client = second.client().await;
    // Longer than it takes to look after dead guards.
    for _ in 0..3 {
        assert_eq!(refusal(&brief(&client).await), "locked", "its server may be at it still");
    }
}

/// A server that does not heed the end of its input, nor polite signals, and has started another process.
const STUBBORN: &str = r#"
import json, os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
other = subprocess.Popen(["sleep", "100000"], stdin=subprocess.DEVNULL)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {other.pid}")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
while True:
    time.sleep(1000)
"#;

fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_end_with_a_guard_that_is_killed_also_those_that_do_not_heed_the_end_of_their_input() {
    let folder = scratch();
    let pids = folder.path().join("pids");
    let server = ["python3", "-c", STUBBORN, &pids.display().to_string()].map(str::to_owned);
    let guard = Line::bare(&server).guarded(&["--listen", "127.0.0.1:0"]).serve();
    let text = std::fs::read_to_string(&pids).expect("it runs");
    let both: Vec<&str> = text.split(' ').collect();
    assert!(both.iter().all(|pid| runs(pid)), "{both:?}");
    kill(guard);
    until("nothing of it is left", || !both.iter().any(|pid| runs(pid))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_ends_in_order_leaves_no_file_and_no_process_behind() {
    let effects = Effects::new();
    let line = guard(&effects, "a", &sqlite(&effects), LOCKED, &program(&effects));
    let first = line.serve();
    assert!(!brief(&first.client().await).await.is_error);
    let pid = first.child.id();
    first.signal("TERM");
    assert_eq!(first.ended().await, Some(0));
    let left = std::fs::read_dir(effects.file("state.db.guards").join("guard-effects")).expect("a folder");
    assert_eq!(left.count(), 0);
    let beside = Command::new("pgrep").args(["-P", &pid.to_string()]).output();
    assert!(beside.is_ok_and(|found| found.stdout.is_empty()), "its own watcher ends with it");
}

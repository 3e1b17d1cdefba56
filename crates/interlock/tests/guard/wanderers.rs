//! Sessions that go on at another replica than the one that opened them.

use interlock_testkit::service::{Redis, Setup};
use serde_json::{Value, json};

use crate::{
    callers::session,
    effects::Effects,
    kit::{Line, Serving, scratch},
    raw::Raw,
};

const KEY: &str = "a-key-of-thirty-two-characters-or-more";

/// A replica with this in its `[listen]`, in front of the server of effects.
struct Replica {
    guard: Serving,
    _folder: tempfile::TempDir,
}

fn replica(effects: &Effects, state: &str, listen: &str, more: &str) -> Replica {
    replica_with(effects, state, listen, more, "")
}

/// The same, with this about the server.
fn replica_with(effects: &Effects, state: &str, listen: &str, more: &str, server: &str) -> Replica {
    let folder = scratch();
    let command = json!(effects.command());
    let policy = format!(
        "[state]\nurl = \"{state}\"\nnamespace = \"same\"\n\n[listen]\nat = \"127.0.0.1:0\"\n{listen}\n{more}\n\
         [[upstream]]\nname = \"effects\"\ncommand = {command}\n{server}"
    );
    let path = folder.path().join("guard.toml");
    std::fs::write(&path, policy).expect("it is written");
    let line = Line::bare(&[crate::kit::INTERLOCK, "guard", "--config", &path.display().to_string()]);
    Replica { guard: line.env("SESSION_KEY", KEY).serve(), _folder: folder }
}

/// The same client, which asks another replica from now on.
fn at(client: &Raw, replica: &Replica) -> Raw {
    Raw::new(&replica.guard.url).in_session(client.session.as_deref())
}

async fn call(client: &Raw, tool: &str) -> (u16, Value) {
    let params = json!({ "name": tool, "arguments": { "name": "it" } });
    let came = client.call(json!(3), &params).await.expect("it answers");
    (came.status, came.message().unwrap_or(Value::Null)["result"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_at_another_replica_and_so_does_what_it_has_read() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    let effects = Effects::new();
    let rules = "[[identity.api_key]]\nname = \"a\"\nenv = \"SESSION_KEY\"\n\n[[tool]]\nmatch = \"look\"\nobserves = \"page\"\n\n\
                 [[tool]]\nmatch = \"do\"\nlock = \"page\"\nchanges = \"page\"\nrequires_fresh = \"page\"\n";
    let key = "session_key = \"${SESSION_KEY}\"\n";
    let [mut first, second] = [(); 2].map(|()| replica(&effects, &redis.url(), key, rules));
    let client = session(&first.guard, KEY).await;
    let moved = Raw::known(&second.guard.url, KEY).in_session(client.session.as_deref());
    let stale = |result: &Value| result["_meta"]["dev.interlock/refusal"]["reason"] == "stale";
    // It has read nothing, and the other replica knows that as well.
    assert!(stale(&call(&moved, "do").await.1));
    assert!(!stale(&call(&client, "look").await.1));
    first.guard.child.kill().expect("it can be killed");
    let (status, result) = call(&moved, "do").await;
    assert_eq!((status, result["isError"] == json!(true)), (200, false), "{result}");
    // Another session of the same caller has not read it, and its id is another one.
    let other = session(&second.guard, KEY).await;
    assert!(other.session != client.session && stale(&call(&other, "do").await.1));
    assert_eq!(effects.began(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_process_of_its_own_it_gets_one_that_is_greeted_as_it_greeted() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    let effects = Effects::new();
    let key = "session_key = \"${SESSION_KEY}\"\n";
    let [first, second] =
        [(); 2].map(|()| replica_with(&effects, &redis.url(), key, "", "sharing = \"per-session\"\n"));
    let client = Raw::connected(&first.guard.url).await;
    let moved = at(&client, &second);
    for _ in 0..2 {
        // Several at once are one session.
        let all = statuses(&moved, 8).await;
        assert!(all.iter().all(|status| *status == 200), "{all:?}");
    }
    moved.end(moved.session.as_deref().expect("a session")).await;
    assert_eq!(call(&moved, "look").await.0, 404, "what its client has ended does not come back here");
}

async fn statuses(client: &Raw, count: usize) -> Vec<u16> {
    let mut running = tokio::task::JoinSet::new();
    for number in 0..count {
        let client = client.clone();
        running.spawn(async move {
            let params = json!({ "name": "look", "arguments": {} });
            client.call(json!(format!("n{number}")), &params).await.expect("it answers").status
        });
    }
    running.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_key_or_with_another_one_nobody_knows_it() {
    let effects = Effects::new();
    let other_key = "session_key = \"another-key-of-thirty-two-characters\"\n";
    let signed = replica(&effects, "memory:", "session_key = \"${SESSION_KEY}\"\n", "");
    let client = Raw::connected(&signed.guard.url).await;
    for listen in ["", other_key] {
        let stranger = replica(&effects, "memory:", listen, "");
        assert_eq!(call(&at(&client, &stranger), "look").await.0, 404, "{listen}");
    }
    let plain = replica(&effects, "memory:", "", "");
    let unsigned = Raw::connected(&plain.guard.url).await;
    assert_eq!(call(&at(&unsigned, &signed), "look").await.0, 404);
    // A caller that was verified is not another one.
    let keys = "[[identity.api_key]]\nname = \"a\"\nenv = \"SESSION_KEY\"\n";
    let known = replica(&effects, "memory:", "session_key = \"${SESSION_KEY}\"\n", keys);
    let thief = Raw::known(&known.guard.url, KEY).in_session(client.session.as_deref());
    assert_eq!(call(&thief, "look").await.0, 404);
}

//! What belongs together by its text, and what is kept apart by its namespace.

use interlock_testkit::service::{Redis, Setup};
use serde_json::{Value, json};

use crate::{
    effects::{Effects, configured},
    kit::{Line, Serving},
    raw::Raw,
};

const RULES: &str = "[[tool]]\nmatch = \"*do\"\nlock = \"page\"\nidempotency = \"meta\"\n";

fn guard(effects: &Effects, state: &str, upstreams: &[&str], more: &str) -> Serving {
    let command = json!(effects.command());
    let upstreams: String = upstreams
        .iter()
        .map(|name| format!("[[upstream]]\nname = \"{name}\"\ncommand = {command}\n\n"))
        .collect();
    let line: Line =
        configured(&effects.file(""), &format!("[state]\nurl = \"{state}\"\n\n{RULES}\n{more}\n{upstreams}"));
    line.serve()
}

/// Calls with a key; whether it was refused.
async fn call(client: &Raw, tool: &str, name: &str, key: &str) -> bool {
    let meta = json!({ "dev.interlock/idempotency-key": key });
    let params = json!({ "name": tool, "arguments": { "name": name, "ms": 5 }, "_meta": meta });
    let message = client.call(json!(format!("{tool}/{name}")), &params).await.expect("it answers").message();
    let result = message.unwrap_or(Value::Null)["result"].clone();
    result.is_null() || result["isError"] == true
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_file_are_kept_apart_by_one_key() {
    let effects = Effects::new();
    let guard = guard(&effects, "memory:", &["one", "two"], "");
    let client = Raw::connected(&guard.url).await;
    let mut running = tokio::task::JoinSet::new();
    for number in 0..100 {
        let (client, tool) = (client.clone(), if number % 2 == 0 { "one_do" } else { "two_do" });
        let name = format!("call-{number}");
        running.spawn(async move { call(&client, tool, &name, &name).await });
    }
    assert!(running.join_all().await.iter().all(|is_refused| !is_refused));
    let lines = effects.all();
    assert_eq!(lines.len(), 200);
    for pair in lines.chunks(2) {
        let names: Vec<_> = pair.iter().filter_map(|line| line.split_once(' ')).collect();
        assert!(names[0].0 == "begin" && names[1].0 == "end" && names[0].1 == names[1].1, "{pair:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unrelated_guards_on_one_store_do_not_answer_for_each_other_and_replicas_do() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    let began = async |upstreams: &[&str], more: &str, effects: &Effects, name: &str| {
        let guard = guard(effects, &redis.url(), upstreams, more);
        let client = Raw::connected(&guard.url).await;
        let tool = if upstreams.len() == 1 { "do".to_owned() } else { format!("{}_do", upstreams[0]) };
        assert!(!call(&client, &tool, name, "the-same-key").await, "{name}");
        effects.began()
    };
    let (ours, theirs) = (Effects::new(), Effects::new());
    assert_eq!(began(&["shop"], "", &ours, "pay").await, 1);
    // Another guard, of somebody else, whose callers count their keys from one as well.
    assert_eq!(began(&["mail"], "", &theirs, "pay").await, 1);
    // The first one again, with a file that was edited: it is known what it has done.
    let edited = "[defaults]\nwait = \"7s\"\n\n[[tool]]\nmatch = \"look\"\nrate = \"10/min\"\n";
    assert_eq!(began(&["shop"], edited, &ours, "pay").await, 1);
}

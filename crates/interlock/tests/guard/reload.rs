//! A configuration that changes while calls run: one generation after another, and what is held stays held.

use serde_json::{Value, json};

use crate::{
    effects::Effects,
    kit::{Client, Serving, free_address, until},
    operations::get,
    raw::Raw,
};

const LOCKED: &str = "[[tool]]\nmatch = \"do\"\nlock = \"page\"\n";
const CLOSED: &str = "[[tool]]\nmatch = \"do\"\nlock = \"page\"\n\n[[tool]]\nmatch = \"look\"\ndeny = true\n";

/// Waits until readers are refused, which the second policy says.
async fn until_in_force(client: &Client) {
    while !client.call("look", json!({})).await.is_error {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// A lock that was granted under one policy, and wanted under the next.
async fn excludes_across(tell: impl Fn(&Serving)) {
    let (effects, admin) = (Effects::new(), free_address());
    let guard = effects.configured(LOCKED).with(&["--admin", &admin]).serve();
    let client = guard.client().await;
    let release = effects.file("release");
    let doing = |name: &'static str| {
        let client = client.clone();
        let wish = json!({ "name": name, "ms": 1_000_000, "until": release });
        tokio::spawn(async move { client.call("do", wish).await })
    };
    let first = doing("first");
    until("the first has begun", || effects.began() == 1).await;
    effects.write_policy(CLOSED);
    tell(&guard);
    until_in_force(&client).await;
    let second = doing("second");
    let waiting = async || {
        let state: Value = serde_json::from_str(&get(&admin, "/state.json").await.1).expect("it is JSON");
        state["waiting"] == json!(1)
    };
    while !waiting().await {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::write(&release, "").expect("it is written");
    for call in [first, second] {
        assert!(!call.await.expect("it is answered").is_error);
    }
    assert_eq!(effects.all(), ["begin first", "end first", "begin second", "end second"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_held_when_sighup_comes_still_excludes_afterwards() {
    excludes_across(|guard| guard.signal("HUP")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_is_read_by_itself_and_what_was_held_is_held() {
    excludes_across(|_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_named_with_its_line_and_changes_nothing() {
    let effects = Effects::new();
    let log = effects.file("log");
    let guard = effects.configured(CLOSED).logging_to(&log).serve();
    let client = guard.client().await;
    effects.write_policy("[[tool]]\nmatch = \"look\"\ndney = true\n");
    guard.signal("HUP");
    let said = || std::fs::read_to_string(&log).expect("there is a log");
    until("the mistake is told", || said().contains("dney")).await;
    let said = said();
    assert!(said.contains("nothing was reloaded, what held before still holds"), "{said}");
    assert!(said.contains("line 3"), "{said}");
    assert!(client.call("look", json!({})).await.is_error, "what held before still holds");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_on_the_command_line_counts_more_than_that_of_any_file() {
    let effects = Effects::new();
    let log = effects.file("log");
    let guard = effects.configured(CLOSED).with(&["--mode", "observe"]).logging_to(&log).serve();
    let client = guard.client().await;
    effects.write_policy(&format!("mode = \"enforce\"\n{CLOSED}"));
    guard.signal("HUP");
    let said = || std::fs::read_to_string(&log).expect("there is a log");
    until("the policy was replaced", || said().contains("generation=2")).await;
    assert!(!client.call("look", json!({})).await.is_error);
    until("it is written down", || said().contains("decision=observed reason=denied tool=look")).await;
}

/// The policy that lets in whoever has the key in this variable.
fn letting_in(variable: &str) -> String {
    format!("{LOCKED}\n[[identity.api_key]]\nname = \"{variable}\"\nenv = \"{variable}\"\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_call_changes_without_a_restart_and_stays_where_the_change_cannot_be() {
    let effects = Effects::new();
    let log = effects.file("log");
    let line = effects.configured(&letting_in("ONE")).logging_to(&log);
    let guard = line.env("ONE", "the-first-key-of-all").env("TWO", "the-second-key-of-all").serve();
    let client = Raw::new(&guard.url);
    let status = async |key: &str| {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answer = client.request(ping).header("x-api-key", key).send().await.expect("it answers");
        answer.status().as_u16()
    };
    // Who is let in is told that there is no session yet.
    let let_in = 400;
    assert_eq!((status("the-first-key-of-all").await, status("the-second-key-of-all").await), (let_in, 401));
    effects.write_policy(&letting_in("TWO"));
    guard.signal("HUP");
    while status("the-second-key-of-all").await != let_in {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(status("the-first-key-of-all").await, 401, "a key that was taken back opens nothing");
    let tokens =
        "[identity.jwt]\nkey = \"no-such-file\"\nissuer = \"i\"\naudience = \"a\"\nalgorithms = \"HS256\"\n";
    effects.write_policy(&format!("{LOCKED}\n{tokens}"));
    guard.signal("HUP");
    let said = || std::fs::read_to_string(&log).expect("there is a log");
    until("the refusal is told", || said().contains("who may call stays as it was")).await;
    assert_eq!((status("the-first-key-of-all").await, status("the-second-key-of-all").await), (401, let_in));
}

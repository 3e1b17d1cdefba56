//! How a guard ends, and what becomes of its calls when a server does.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    effects::Effects,
    kit::{Client, times},
};

/// How many calls are under way while the guard is told to end.
const CALLERS: usize = 8;

/// Calls that go on until the guard takes no more. Says which were answered.
async fn keep_calling(client: Client, caller: usize) -> Vec<String> {
    let mut answered = Vec::new();
    for number in 0.. {
        let name = format!("{caller}-{number}");
        match client.try_call("do", json!({ "name": name, "ms": 3 })).await {
            Ok(said) if !said.is_error => answered.push(name),
            // Refused because it closes, or there is nobody any more.
            _ => break,
        }
    }
    answered
}

/// Told to end under load, at another moment in each run: what was begun is answered, and what was answered was done once.
#[tokio::test(flavor = "multi_thread")]
async fn told_to_end_under_load_it_answers_what_it_accepted_and_begins_nothing_more() {
    let runs = times("INTERLOCK_GUARD_RUNS", 5);
    let mut total = 0;
    for run in 0..runs {
        let effects = Effects::new();
        let mut guard =
            effects.line().guarded(&["--listen", "127.0.0.1:0", "--lock", "do=call:{args.name}"]).serve();
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let client = guard.client().await;
            callers.spawn(keep_calling(client, caller));
        }
        while effects.began() < CALLERS {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(u64::try_from(run % 23).unwrap_or_default())).await;
        guard.signal(if run % 2 == 0 { "TERM" } else { "INT" });
        let answered: Vec<String> = callers.join_all().await.into_iter().flatten().collect();
        let status = tokio::task::spawn_blocking(move || guard.child.wait()).await.expect("it is waited for");
        assert_eq!(status.expect("it ended").code(), Some(0), "run {run}");
        let happened = effects.happened();
        assert_eq!(happened.len(), effects.began(), "run {run}: a call was cut off");
        assert!(happened.values().all(|times| *times == 1), "run {run}: {happened:?}");
        let unanswered: Vec<_> = happened.keys().filter(|name| !answered.contains(name)).collect();
        assert!(unanswered.is_empty(), "run {run}: done and not answered: {unanswered:?}");
        assert_eq!(happened.len(), answered.len(), "run {run}: answered and not done");
        total += answered.len();
    }
    println!("{runs} runs, {total} calls accepted, all of them answered, none begun after the closing");
}

#[tokio::test(flavor = "multi_thread")]
async fn told_twice_it_ends_at_once_and_takes_its_server_along() {
    let effects = Effects::new();
    let mut guard = effects.line().guarded(&["--listen", "127.0.0.1:0"]).serve();
    let client = guard.client().await;
    let pid = client.call("look", json!({})).await.value()["pid"].as_u64().expect("a number");
    let endless = tokio::spawn(async move {
        client.try_call("do", json!({ "name": "endless", "ms": 1_000_000 })).await.is_err()
    });
    while effects.began() == 0 {
        tokio::task::yield_now().await;
    }
    while guard.child.try_wait().expect("it is ours").is_none() {
        guard.signal("TERM");
        tokio::task::yield_now().await;
    }
    assert_eq!(guard.child.wait().expect("it ended").code(), Some(2));
    assert!(endless.await.is_ok());
    while std::fs::exists(format!("/proc/{pid}")).expect("/proc") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_server_crashes_its_calls_fail_at_once_and_the_next_one_runs_on_a_new_one() {
    let effects = Effects::new();
    // Locks apart, so that one call is under way while the other brings the server down.
    let options = ["--listen", "127.0.0.1:0", "--lock", "do=do", "--lock", "crash=crash"];
    let guard = effects.line().guarded(&options).serve();
    let client = guard.client().await;
    let before = client.call("look", json!({})).await.value();
    let other = client.clone();
    let under_way =
        tokio::spawn(
            async move { other.try_call("do", json!({ "name": "endless", "ms": 1_000_000 })).await },
        );
    while effects.began() == 0 {
        tokio::task::yield_now().await;
    }
    let _ = client.try_call("crash", json!({})).await;
    let told = match under_way.await.expect("it ends") {
        Ok(said) => {
            assert!(said.is_error, "{said:?}");
            said.text().to_owned()
        }
        Err(error) => error.to_string(),
    };
    assert!(told.contains("the server's process ended with exit code 3"), "{told}");
    let after = loop {
        match client.try_call("look", json!({})).await {
            Ok(said) if !said.is_error => break said.value(),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    assert_ne!(before["pid"], after["pid"]);
}

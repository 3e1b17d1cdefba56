//! File operations are what schedules are made of.

use serde_json::{Value, json};

use crate::server::{Server, text, walk};

#[tokio::test]
async fn every_order_of_reads_and_writes_happens_and_only_the_serial_ones_keep_both_notes() {
    let calls = [("add", json!({ "text": "one" })), ("add", json!({ "text": "two" }))];
    let (walk, runs) = walk(async || Server::own("notes.mjs"), &calls).await;
    assert!(walk.exhausted());
    let mut seen: Vec<String> = runs.iter().map(|run| format!("{}: {}", run.ran.order(), run.list)).collect();
    assert_eq!(seen[0], "AABB: one two", "the schedule without a switch comes first");
    seen.sort();
    assert_eq!(
        seen,
        ["AABB: one two", "ABAB: two", "ABBA: one", "BAAB: two", "BABA: one", "BBAA: two one"],
        "each order of two reads and two writes, once"
    );
    assert!(runs.iter().all(|run| !run.ran.observed.unnatural), "a thread pool keeps no order");
}

#[tokio::test]
async fn operations_are_told_with_their_call_kind_and_file() {
    let mut server = Server::own("notes.mjs");
    let ran = server.together(&[("add", json!({ "text": "one" }))], &[]).await;
    assert_eq!(ran.told(), ["read readFile notes.json", "write writeFile notes.json"]);
    assert!(ran.observed.ticks.iter().all(|tick| tick.request == Some(1)));
    assert_eq!(ran.observed.choices, [], "nobody else was waiting");
}

#[tokio::test]
async fn callbacks_handles_and_streams_wait_at_the_gate_too() {
    // How many operations the first call is ahead when the second overtakes it: as many as it takes to have read the count.
    for (tool, ahead, operations) in [
        ("callbacks", 1, &["read readFile count", "write writeFile count"][..]),
        ("handles", 2, &["write open count", "read readFile #", "write open count", "write writeFile #"]),
        ("streams", 3, &["read existsSync count", "write open count", "write write #"]),
    ] {
        let mut server = Server::own("callbacks.cjs");
        let ran = server.together(&[(tool, Value::Null)], &[]).await;
        let told: Vec<String> =
            ran.told().iter().map(|line| line.trim_end_matches(char::is_numeric).to_owned()).collect();
        assert_eq!(told, operations, "{tool}");

        let calls = [(tool, Value::Null), (tool, Value::Null)];
        let mut choices = vec![0; ahead];
        choices.push(1);
        let ran = server.together(&calls, &choices).await;
        assert_eq!(ran.observed.diverged, None, "{tool}");
        assert_eq!(text(&server.call("list", Value::Null).await), "2", "{tool}: both have read the one");
    }
}

#[tokio::test]
async fn what_is_synchronous_leaves_nothing_to_choose() {
    let calls = [("sync", Value::Null), ("sync", Value::Null)];
    let (walk, runs) = walk(async || Server::own("callbacks.cjs"), &calls).await;
    assert!(walk.exhausted());
    assert_eq!(runs.iter().map(|run| run.list.as_str()).collect::<Vec<_>>(), ["2"]);
    assert_eq!(
        runs[0].ran.told(),
        [
            "read existsSync count",
            "write writeFileSync count",
            "read existsSync count",
            "read readFileSync count",
            "write writeFileSync count"
        ]
    );
}

#[tokio::test]
async fn a_schedule_that_does_not_fit_is_called_so() {
    let mut server = Server::own("notes.mjs");
    let calls = [("add", json!({ "text": "one" })), ("add", json!({ "text": "two" }))];
    let ran = server.together(&calls, &[0, 0, 0, 1]).await;
    assert_eq!(ran.observed.diverged.unwrap(), "2 of the 4 choices never came up");
    let ran = server.together(&calls, &[7]).await;
    assert_eq!(ran.observed.diverged.unwrap(), "choice 0 was to be 7, of 2");
}

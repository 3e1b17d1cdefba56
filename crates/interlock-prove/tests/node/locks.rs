//! Calls that wait for each other: nothing hangs, and no schedule breaks what a lock keeps apart.

use serde_json::{Value, json};

use crate::server::{Server, walk};

fn two(tool: &str) -> [(&str, Value); 2] {
    [(tool, json!({ "text": "one" })), (tool, json!({ "text": "two" }))]
}

#[tokio::test]
async fn a_chain_of_promises_holds_under_every_schedule() {
    let (walk, runs) = walk(async || Server::own("locked.mjs"), &two("chained")).await;
    assert!(walk.exhausted());
    assert!(!runs.is_empty());
    assert!(runs.iter().all(|run| run.list == "one two"));
}

#[tokio::test]
async fn a_lock_that_is_polled_for_holds_and_the_default_schedule_comes_to_an_end() {
    // Whoever polls may poll for ever, so there is no last schedule; those that switch least are enough here.
    for choices in [&[][..], &[1], &[0, 1], &[0, 1, 1], &[0, 1, 0, 1]] {
        let mut server = Server::own("locked.mjs");
        let ran = server.together(&two("polled"), choices).await;
        assert_eq!(ran.observed.diverged, None, "{choices:?}");
        let list = server.call("list", Value::Null).await;
        assert!(
            ["one two", "two one"].contains(&list["content"][0]["text"].as_str().unwrap()),
            "{choices:?} {list}"
        );
    }
}

#[tokio::test]
async fn a_server_that_reads_one_request_after_another_has_one_schedule() {
    let (walk, runs) = walk(async || Server::own("one-by-one.mjs"), &two("any")).await;
    assert!(walk.exhausted());
    assert_eq!(runs.iter().map(|run| run.ran.order()).collect::<Vec<_>>(), ["AABB"]);
    assert_eq!(runs[0].list, "3", "the question is counted as well");
}

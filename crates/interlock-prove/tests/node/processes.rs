//! The processes around a server, and how it starts and ends.

use std::time::Duration;

use interlock_model::Perturbation;
use interlock_prove::{
    launch::Launch,
    perturb::{Perturb, node::Node},
};
use serde_json::json;

use crate::server::{Server, own, text, walk};

#[tokio::test]
async fn a_server_that_is_not_armed_does_what_it_always_does_and_ends_with_its_input() {
    let mut server = Server::own("notes.mjs");
    assert_eq!(text(&server.call("add", json!({ "text": "one" })).await), "1");
    assert!(server.end().await);
}

#[tokio::test]
async fn a_server_that_was_armed_is_free_again_afterwards() {
    let mut server = Server::own("notes.mjs");
    let calls = [("add", json!({ "text": "one" })), ("add", json!({ "text": "two" }))];
    server.together(&calls, &[0, 1]).await;
    assert_eq!(text(&server.call("add", json!({ "text": "three" })).await), "2");
    assert!(server.end().await);
}

/// A server that has answered, so that its own process is there and not only what leads to it.
async fn started(command: &[&str]) -> Server {
    let mut server = Server::start(command, &[]);
    server.call("list", json!({})).await;
    server
}

#[tokio::test]
async fn a_server_behind_its_launcher_is_found() {
    for command in [
        &["node", &own("wrapper.cjs"), &own("notes.mjs")][..],
        &["sh", "-c", &format!("node '{}'; true", own("notes.mjs"))],
    ] {
        let calls = [("add", json!({ "text": "one" })), ("add", json!({ "text": "two" }))];
        // An operation that takes long on a busy machine no longer holds the other call up, and then there is an order less to see.
        let mut seen = vec![];
        while seen.len() < 3 && !seen.contains(&(true, 6)) {
            let (walk, runs) = walk(async || started(command).await, &calls).await;
            seen.push((walk.exhausted(), runs.len()));
        }
        assert!(seen.contains(&(true, 6)), "{command:?}: {seen:?}");
    }
}

#[tokio::test]
async fn options_that_node_was_given_before_still_count() {
    let mut server = Server::start(
        &["node", &own("notes.mjs")],
        &[("NODE_OPTIONS", "--no-deprecation --max-old-space-size=200")],
    );
    let ran = server.together(&[("add", json!({ "text": "one" }))], &[]).await;
    assert_eq!(ran.order(), "AA");
}

#[tokio::test]
async fn the_calls_of_a_server_on_http_are_told_apart() {
    let mut server = Server::own("web.mjs");
    let port = server.hear(0).await.as_u64().unwrap();
    let calls = [("add", json!({ "text": "one" })), ("add", json!({ "text": "two" }))];
    let ran = server.over_http(u16::try_from(port).unwrap(), &calls, &[0, 1]).await;
    assert_eq!(ran.observed.diverged, None);
    assert_eq!(ran.order(), "ABBA");
    let answers: Vec<String> = ran.answers.iter().map(text).collect();
    assert_eq!(answers, ["1", "1"], "neither has seen the other");
}

#[tokio::test]
async fn what_is_not_node_cannot_be_armed_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = Launch { program: "cat".into(), ..Launch::default() };
    let node = Node::default();
    assert!(node.applies(&launch).unwrap_err().contains("`cat`"));
    let mut leash = node.attach(&mut launch, folder.path()).unwrap();
    let order = Perturbation::NodeOrder { choices: vec![] };
    let arming =
        tokio::time::timeout(Duration::from_secs(30), leash.arm(&order, &[1])).await.expect("it gives up");
    assert!(arming.unwrap_err().to_string().contains("NODE_OPTIONS"));
    assert!(leash.arm(&Perturbation::None, &[1]).await.is_err());
}

#[tokio::test]
async fn a_server_that_dies_while_it_is_armed_is_an_error_and_no_hang() {
    let mut server = Server::own("notes.mjs");
    server.call("list", json!({})).await;
    server.leash.arm(&Perturbation::NodeOrder { choices: vec![] }, &[99]).await.unwrap();
    server.kill().await;
    assert!(server.leash.disarm().await.is_err());
}

//! Operations that end in another process: programs, requests, connections.

use serde_json::{Value, json};

use crate::server::{Server, text};

/// Two calls that read a count and write it back: one after the other, then the second between the first's read and write.
async fn check(tool: &str, operations: &[&str]) {
    let calls = [(tool, Value::Null), (tool, Value::Null)];
    for (choices, order, count) in [(&[][..], "AABB", "2"), (&[0, 1], "ABBA", "1"), (&[1, 1, 1], "BABA", "1")]
    {
        let mut server = Server::own("outside.mjs");
        let ran = server.together(&calls, choices).await;
        assert_eq!(ran.observed.diverged, None, "{tool} {choices:?} {:?}", ran.told());
        assert_eq!(ran.order(), order, "{tool} {choices:?} {:?}", ran.told());
        assert!(!ran.observed.unnatural);
        let list = server.call("list", json!({ "name": tool })).await;
        assert_eq!(text(&list), count, "{tool} {choices:?}");
        let told: Vec<String> = ran.told().iter().map(|line| line.replace(char::is_numeric, "")).collect();
        assert!(told.iter().all(|line| operations.contains(&line.as_str())), "{told:?}");
    }
}

#[tokio::test]
async fn a_program_is_stopped_until_it_is_let_go() {
    let (read, write) =
        ("write spawn sh -c cat count >/dev/null || echo ", "write spawn sh -c echo  > count");
    check("program", &[read, write]).await;
}

#[tokio::test]
async fn a_request_leaves_when_it_is_let_go() {
    check("http", &["read GET .../http", "write POST .../http"]).await;
}

#[tokio::test]
async fn a_fetch_leaves_when_it_is_let_go() {
    check("fetch", &["read GET http://...:/fetch", "write POST http://...:/fetch"]).await;
}

#[tokio::test]
async fn what_is_sent_over_a_connection_waits() {
    check("line", &["write send ...:"]).await;
}

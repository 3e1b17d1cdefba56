//! Who calls, and who does not get in.

use serde_json::json;

use crate::kit::{Server, interlock};

#[tokio::test(flavor = "multi_thread")]
async fn over_http_the_caller_is_the_name_of_the_token() {
    let ledger = Server::ledger(&["--token", "carol=first", "--token", "dave=second"]);
    let (carol, dave) = (ledger.client_with(Some("first")).await, ledger.client_with(Some("second")).await);

    assert_eq!(
        carol.call("increment_usage", json!({ "amount": 3 })).await.unwrap(),
        json!({ "caller": "carol", "used": 3 })
    );
    assert_eq!(dave.call("get_usage", json!({})).await.unwrap(), json!({ "caller": "dave", "used": 0 }));

    assert!(
        dave.call("delete_file", json!({ "fileId": "file-1" })).await.unwrap_err().contains("is not dave's")
    );
    let given = carol.call("transfer_file", json!({ "fileId": "file-1", "toUserId": "dave" })).await;
    assert_eq!(given.unwrap(), json!({ "fileId": "file-1", "ownerId": "dave" }));
    assert_eq!(carol.call("list_files", json!({})).await.unwrap(), json!({ "files": [] }));
    let files = dave.call("list_files", json!({})).await.unwrap();
    assert_eq!(files, json!({ "files": [{ "fileId": "file-1", "ownerId": "dave" }] }));
    assert!(
        carol
            .call("delete_file", json!({ "fileId": "file-1" }))
            .await
            .unwrap_err()
            .contains("is not carol's")
    );
    assert!(dave.call("delete_file", json!({ "fileId": "file-1" })).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_callers_limit_is_not_anothers() {
    let ledger = Server::ledger(&["--token", "carol=first", "--token", "dave=second", "--rate", "1/min"]);
    let (carol, dave) = (ledger.client_with(Some("first")).await, ledger.client_with(Some("second")).await);
    assert!(carol.call("get_usage", json!({})).await.is_ok());
    assert!(carol.call("get_usage", json!({})).await.unwrap_err().contains("called too often. Try again in"));
    assert!(dave.call("get_usage", json!({})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_token_nobody_gets_in() {
    let ledger = Server::ledger(&["--token", "carol=first"]);
    for wrong in [None, Some("wrong"), Some("firs"), Some("")] {
        assert!(ledger.try_client(wrong).await.is_err(), "{wrong:?}");
    }
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    for header in ["", "first", "Basic first", "Bearer", "Bearer  first"] {
        let answer = http.post(&ledger.url).header("authorization", header).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), 401, "{header}");
        assert!(answer.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer "), "{header}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_a_web_page_cannot_call() {
    let ledger = Server::ledger(&[]);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = |name: &'static str, value: &'static str| {
        http.post(&ledger.url)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header(name, value)
            .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .send()
    };
    assert_eq!(ask("origin", "https://example.com").await.unwrap().status(), 403);
    assert_eq!(ask("host", "example.com").await.unwrap().status(), 403);
    assert_eq!(ask("origin", "http://localhost:1").await.unwrap().status(), 200);
}

#[test]
fn an_address_that_others_can_reach_needs_a_token() {
    let ended = interlock(&["ledger", "--listen", "0.0.0.0:0"]).output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{words}");
    assert!(words.contains("--token NAME=SECRET"), "{words}");
    for token in ["carol", "=x", "carol=", "carol=a b"] {
        let ended = interlock(&["ledger", "--listen", "127.0.0.1:0", "--token", token]).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{token}");
    }
}

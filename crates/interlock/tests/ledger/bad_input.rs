//! What an agent may send by mistake or malice: a clear tool error, nothing changed, and the server goes on.

use serde_json::{Value, json};

use crate::{
    backends::{BACKENDS, State},
    kit::{Server, interlock},
};

/// Calls that must be refused, and what the words must say.
fn bad_calls() -> Vec<(&'static str, Value, &'static str)> {
    let amount = "an amount is a whole number from 1";
    let name = "a name has 1 to 128 bytes";
    let long = "x".repeat(10_000);
    let huge = "x".repeat(10 * 1024 * 1024);
    let mut calls = vec![
        ("get_account", json!({ "userId": "nobody" }), "there is no account `nobody`"),
        ("credit_balance", json!({ "userId": "nobody", "amount": 1 }), "there is no account `nobody`"),
        ("debit_balance", json!({ "userId": "nobody", "amount": 1 }), "there is no account `nobody`"),
        (
            "transfer_credits",
            json!({ "fromUserId": "alice", "toUserId": "nobody", "amount": 1 }),
            "no account `nobody`",
        ),
        (
            "transfer_credits",
            json!({ "fromUserId": "alice", "toUserId": "alice", "amount": 1 }),
            "name two accounts",
        ),
        (
            "transfer_credits",
            json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 101 }),
            "which is too few",
        ),
        ("transfer_credits", json!({ "fromUserId": "alice", "toUserId": "bob" }), "missing field `amount`"),
        (
            "transfer_credits",
            json!({ "from": "alice", "toUserId": "bob", "amount": 1 }),
            "unknown field `from`",
        ),
        ("get_account", json!({ "userId": 7 }), "expected a string"),
        ("get_account", json!({ "userId": "" }), "an id has 1 to 128 bytes"),
        ("get_account", json!({ "userId": "a\u{0}b" }), "an id has 1 to 128 bytes"),
        ("get_account", json!({ "userId": long }), "an id has 1 to 128 bytes"),
        ("get_document", json!({ "id": long }), "an id has 1 to 128 bytes"),
        ("delete_file", json!({ "fileId": long }), "an id has 1 to 128 bytes"),
        ("create_report", json!({ "reportId": long, "content": "x" }), name),
        (
            "create_document",
            json!({ "id": "big", "body": huge }),
            "at most 1048576 bytes, and this one has 10485760",
        ),
        ("update_document", json!({ "id": "doc-1", "body": huge, "version": 1 }), "at most 1048576 bytes"),
        ("create_document", json!({ "id": "doc-1", "body": "x" }), "there is a document `doc-1` already"),
        (
            "update_document",
            json!({ "id": "doc-1", "body": "x", "version": 999_999_999 }),
            "has changed since you read it",
        ),
        (
            "update_document",
            json!({ "id": "doc-9", "body": "x", "version": 1 }),
            "there is no document `doc-9`",
        ),
        ("update_document", json!({ "id": "doc-1", "body": "x", "version": -1 }), "invalid value"),
        (
            "update_report",
            json!({ "reportId": "none", "content": "x", "hash": "0" }),
            "there is no report `none`",
        ),
        ("read_report", json!({ "reportId": "none" }), "there is no report `none`"),
        ("delete_file", json!({ "fileId": "none" }), "there is no file `none`"),
    ];
    for bad in
        [json!(0), json!(-1), json!(-100), json!(1.5), json!(1e300), json!(u64::MAX), json!("1"), json!(null)]
    {
        for tool in ["credit_balance", "debit_balance"] {
            calls.push((tool, json!({ "userId": "alice", "amount": bad }), amount));
        }
        calls.push((
            "transfer_credits",
            json!({ "fromUserId": "alice", "toUserId": "bob", "amount": bad }),
            amount,
        ));
        calls.push(("spend_credits", json!({ "userId": "alice", "amount": bad, "reason": "x" }), amount));
        calls.push(("increment_usage", json!({ "amount": bad }), amount));
    }
    for bad in ["../x", "/etc/passwd", "a/../../x", "..", "", "a\u{0}b", ".lock"] {
        calls.push(("create_report", json!({ "reportId": bad, "content": "x" }), name));
        calls.push(("save_report", json!({ "reportId": bad, "content": "x" }), name));
        calls.push(("read_report", json!({ "reportId": bad }), name));
        calls.push(("process_user_file", json!({ "userId": bad, "entry": "x" }), name));
    }
    calls
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_in_clear_words_and_changes_nothing_on_either_twin() {
    for backend in BACKENDS {
        for twin in [&[][..], &["--unsafe"]] {
            let (state, files) = (State::new(backend), tempfile::tempdir().unwrap());
            let root = files.path().join("root");
            let places = ["--state", &state.url, "--files", root.to_str().unwrap()];
            let ledger = Server::ledger(&[&places, twin].concat());
            let client = ledger.client().await;
            let before = client.call("get_document", json!({ "id": "doc-1" })).await.unwrap();
            for (tool, arguments, expected) in bad_calls() {
                let words = client.call(tool, arguments.clone()).await.expect_err(tool);
                assert!(words.contains(expected), "{tool}: {words}");
                assert!(words.len() < 500, "{tool}: an answer is not as long as a bad question");
            }
            assert_eq!((client.balance("alice").await, client.balance("bob").await), (100, 0));
            assert_eq!(client.call("get_document", json!({ "id": "doc-1" })).await.unwrap(), before);
            assert_eq!(client.call("get_usage", json!({})).await.unwrap()["used"], 0);
            for folder in ["reports", "users"] {
                let mut left =
                    std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
                assert!(left.all(|name| name == ".interlock"), "{folder}");
            }
            assert_eq!(std::fs::read_dir(files.path()).unwrap().count(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_overflow_is_refused() {
    const MOST: i64 = (1 << 53) - 1;
    for twin in [&[][..], &["--unsafe", "--think", "0"]] {
        let ledger = Server::ledger(twin);
        let client = ledger.client().await;
        let credit = || client.call("credit_balance", json!({ "userId": "bob", "amount": MOST }));
        let mut balance = 0;
        let words = loop {
            match credit().await {
                Ok(account) => balance = account["balance"].as_i64().unwrap(),
                Err(words) => break words,
            }
        };
        assert!(words.contains("cannot hold that much"), "{words}");
        assert_eq!(client.balance("bob").await, balance);
    }
}

#[test]
fn a_state_that_is_down_or_not_understood_ends_the_program_with_a_clear_message() {
    for state in [
        "redis://127.0.0.1:1",
        "postgres://127.0.0.1:1/x",
        "sqlite:/nowhere/at/all.db",
        "mongo://x",
        "memory:x",
    ] {
        let ended = interlock(&["ledger", "--state", state]).output().unwrap();
        let words = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{state}: {words}");
        assert!(words.starts_with("error: ") && words.contains(state), "{state}: {words}");
    }
}

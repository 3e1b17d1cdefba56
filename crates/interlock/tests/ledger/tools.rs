//! What the tools say about themselves, and the same tools over stdio.

use std::{collections::BTreeMap, process::Stdio};

use rmcp::ServiceExt;
use serde_json::{Value, json};

use crate::kit::{Client, Server};

/// What an answer must be.
type IsRight = fn(&Value) -> bool;

/// Every tool with its hints: r read-only, d destructive, i idempotent, o open world.
const TOOLS: &[(&str, &str)] = &[
    ("create_document", ""),
    ("create_report", ""),
    ("credit_balance", ""),
    ("debit_balance", "d"),
    ("delete_file", "d"),
    ("get_account", "ri"),
    ("get_document", "ri"),
    ("get_order", "ri"),
    ("get_usage", "ri"),
    ("increment_usage", ""),
    ("list_files", "ri"),
    ("process_order", "dio"),
    ("process_user_file", ""),
    ("read_report", "ri"),
    ("save_report", "di"),
    ("spend_credits", "d"),
    ("transfer_credits", "d"),
    ("transfer_file", "d"),
    ("update_document", "d"),
    ("update_report", "d"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_has_annotations_and_schemas_and_the_twins_do_not_differ() {
    let mut seen = Vec::new();
    for twin in [&[][..], &["--unsafe"]] {
        let ledger = Server::ledger(twin);
        let tools = ledger.client().await.peer().list_all_tools().await.unwrap();
        let mut hints = BTreeMap::new();
        for tool in &tools {
            let about = tool.annotations.as_ref().expect("it has annotations");
            assert!(about.title.is_some() && tool.description.is_some(), "{}", tool.name);
            let set = [
                (about.read_only_hint, 'r'),
                (about.destructive_hint, 'd'),
                (about.idempotent_hint, 'i'),
                (about.open_world_hint, 'o'),
            ];
            let letters: String = set
                .iter()
                .filter(|(hint, _)| hint.expect("every hint is given"))
                .map(|(_, letter)| letter)
                .collect();
            hints.insert(tool.name.to_string(), letters);
            assert_eq!(
                tool.output_schema.as_ref().expect("it has an output schema")["type"],
                "object",
                "{}",
                tool.name
            );
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            assert!(!json!(tool.input_schema).to_string().contains("$ref"), "{}", tool.name);
        }
        let expected = TOOLS.iter().map(|(name, hints)| ((*name).to_owned(), (*hints).to_owned())).collect();
        assert_eq!(hints, expected);
        seen.push(json!(tools));
    }
    assert_eq!(seen.first(), seen.last());
}

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio_the_tools_work_and_the_caller_has_one_name() {
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_interlock"))
        .env_clear()
        .args(["ledger", "--seed"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = Client::over(().serve(pipes).await.unwrap());

    let calls: [(_, _, IsRight); 12] = [
        ("spend_credits", json!({ "userId": "alice", "amount": 10, "reason": "tea" }), |said| {
            said["balance"] == 90
        }),
        ("credit_balance", json!({ "userId": "alice", "amount": 5 }), |said| said["balance"] == 95),
        ("debit_balance", json!({ "userId": "alice", "amount": 95 }), |said| said["balance"] == 0),
        ("get_order", json!({ "orderId": "order-1" }), |said| {
            said["status"] == "pending" && said["amount"] == 25
        }),
        ("create_report", json!({ "reportId": "r", "content": "one" }), |said| said["bytes"] == 3),
        ("save_report", json!({ "reportId": "r", "content": "two!" }), |said| said["bytes"] == 4),
        ("read_report", json!({ "reportId": "r" }), |said| said["content"] == "two!"),
        ("process_user_file", json!({ "userId": "u", "entry": "e" }), |said| said["entries"] == json!(["e"])),
        ("create_document", json!({ "id": "d", "body": "b" }), |said| said["version"].is_u64()),
        ("list_files", json!({}), |said| said["files"][0]["ownerId"] == "caller"),
        ("increment_usage", json!({ "amount": 2 }), |said| said == &json!({ "caller": "caller", "used": 2 })),
        ("get_usage", json!({}), |said| said["used"] == 2),
    ];
    for (tool, arguments, is_right) in calls {
        let said = client.call(tool, arguments).await.unwrap();
        assert!(is_right(&said), "{tool}: {said}");
    }
    let read = client.call("read_report", json!({ "reportId": "r" })).await.unwrap();
    let update = json!({ "reportId": "r", "content": "three", "hash": read["hash"] });
    assert!(client.call("update_report", update.clone()).await.is_ok());
    assert!(
        client.call("update_report", update).await.unwrap_err().contains("has changed since you read it")
    );
    drop(client);
    assert!(child.wait().await.unwrap().success(), "it ends with its input");
}

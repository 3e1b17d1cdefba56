//! The server under load by a real client, told to end in the middle of it.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

use std::{path::Path, sync::Arc};

use interlock_store::{Options, open};
use interlock_sync::{
    adapt::IDEMPOTENCY_KEY,
    store::{Content, Key},
};
use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult, RequestMetaObject},
    service::{RunningService, ServiceError},
    transport::TokioChildProcess,
};
use serde_json::{Value, json};
use tokio::{process::Command, sync::mpsc, task::JoinSet};

type Client = Arc<RunningService<RoleClient, ()>>;

async fn start(state: &str) -> (Client, u32) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_rmcp-ledger"));
    server.arg(state);
    let server = TokioChildProcess::new(server).unwrap();
    let id = server.id().unwrap();
    (Arc::new(().serve(server).await.unwrap()), id)
}

async fn call(
    client: &Client,
    tool: &str,
    arguments: Value,
    key: Option<&str>,
) -> Result<CallToolResult, ServiceError> {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    if let Some(key) = key {
        let mut meta = RequestMetaObject::new();
        meta.insert(IDEMPOTENCY_KEY.to_owned(), key.into());
        params.meta = Some(meta);
    }
    client.call_tool(params).await
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_string(&result.content).unwrap()
}

async fn balance(file: &Path, user: &str) -> i64 {
    let store = open(&format!("sqlite:{}", file.display()), &Options::default()).await.unwrap();
    let record = store.get(&Key::new(format!("account:{user}")).unwrap()).await.unwrap().unwrap();
    store.close().await.unwrap();
    let Content::Number(balance) = record.content else { panic!("{record:?} is no balance") };
    balance
}

#[tokio::test(flavor = "multi_thread")]
async fn every_payment_that_was_made_before_the_end_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let (client, id) = start(&format!("sqlite:{}", file.display())).await;
    for user in ["alice", "bob"] {
        call(&client, "open_account", json!({ "user": user }), None).await.unwrap();
    }
    let (answered, mut answers) = mpsc::unbounded_channel();
    let mut calls = JoinSet::new();
    for nth in 0..300 {
        let (client, answered) = (Arc::clone(&client), answered.clone());
        calls.spawn(async move {
            let pay = json!({ "from": "alice", "to": "bob", "amount": 1 });
            let answer = call(&client, "pay", pay, Some(&format!("payment-{nth}"))).await;
            let _ = answered.send(());
            answer
        });
    }
    for _ in 0..20 {
        answers.recv().await.unwrap();
    }
    let told = Command::new("kill").args(["-TERM", &id.to_string()]).status().await.unwrap();
    assert!(told.success());
    let (mut paid, mut refused, mut cut_off) = (0, 0, 0);
    while let Some(answer) = calls.join_next().await {
        match answer.unwrap() {
            Ok(result) if result.is_error == Some(true) => {
                assert!(text(&result).contains("was not run: the server is closing"), "{}", text(&result));
                refused += 1;
            }
            Ok(_) => paid += 1,
            // What the server had not read when it ended has not happened.
            Err(_) => cut_off += 1,
        }
    }
    assert_eq!(
        balance(&file, "bob").await - 1_000,
        paid,
        "of 300, {refused} were refused and {cut_off} cut off"
    );
    assert_eq!(balance(&file, "alice").await, 1_000 - paid);
    assert!(paid >= 20 && refused + cut_off > 0, "the end came in the middle: {paid} {refused} {cut_off}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_happens_once_in_whatever_process_and_a_note_is_written_over_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let state = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let ((one, _), (other, _)) = (start(&state).await, start(&state).await);
    for user in ["alice", "bob"] {
        call(&one, "open_account", json!({ "user": user }), None).await.unwrap();
    }
    let pay = || json!({ "from": "alice", "to": "bob", "amount": 600 });
    let mut same = JoinSet::new();
    for nth in 0..20 {
        let client = Arc::clone(if nth % 2 == 0 { &one } else { &other });
        same.spawn(async move { call(&client, "pay", pay(), Some("rent")).await.unwrap() });
    }
    while let Some(answer) = same.join_next().await {
        let answer = text(&answer.unwrap());
        assert!(answer.contains("paid 600, 400 credits are left"), "{answer}");
    }
    let short = call(&other, "pay", pay(), Some("more rent")).await.unwrap();
    assert!(short.is_error == Some(true) && text(&short).contains("too low"), "{}", text(&short));
    let keyless = call(&one, "pay", pay(), None).await.unwrap();
    assert!(text(&keyless).contains("it needs an idempotency key"), "{}", text(&keyless));

    let write = |version: Option<u64>| json!({ "name": "plan", "version": version, "text": "later" });
    assert_eq!(call(&one, "write_note", write(None), None).await.unwrap().is_error, Some(false));
    let again = call(&other, "write_note", write(None), None).await.unwrap();
    assert!(text(&again).contains("read it again"), "{}", text(&again));
    let read = text(&call(&other, "read_note", json!({ "name": "plan" }), None).await.unwrap());
    let version = read.split("version ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert_eq!(call(&other, "write_note", write(Some(version)), None).await.unwrap().is_error, Some(false));
}

//! Messages that would make a server act without anybody having decided over them: calls without an id, notifications with one, and whatever else
//! is written so that one reader takes it for this and another for that.

use serde_json::{Value, json};

use crate::{
    effects::Effects,
    kit::{Serving, scratch, until},
    raw::Raw,
};

/// A guard that allows one `do` in an hour, and writes down what it decides.
fn guard(effects: &Effects) -> Serving {
    let audit = effects.file("audit").display().to_string();
    let policy = format!("[audit]\npath = {audit:?}\n[[tool]]\nmatch = \"do\"\nrate = \"1/h\"\n");
    effects.configured(&policy).serve()
}

/// The lines of the audit log that are about messages, once there are so many.
async fn audited(effects: &Effects, count: usize) -> Vec<Value> {
    let read = || {
        let text = std::fs::read_to_string(effects.file("audit")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["event"] == "message").collect::<Vec<_>>()
    };
    until("it is written down", || read().len() >= count).await;
    read()
}

fn payment() -> Value {
    json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "do", "arguments": { "name": "payment" } } })
}

/// What was asked before has been heeded when this is answered.
async fn look(raw: &Raw) {
    let came =
        raw.call(json!("look"), &json!({ "name": "look", "arguments": {} })).await.expect("it answers");
    assert!(came.message().is_some_and(|message| message["error"].is_null()), "{came:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_id_runs_nowhere_and_is_written_down() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    for _ in 0..5 {
        let came = raw.post(payment().to_string()).await.expect("it answers");
        assert_eq!(came.status, 400, "{came:?}");
        assert_eq!(came.message().expect("it says why")["error"]["code"], -32600, "{came:?}");
    }
    look(&raw).await;
    assert_eq!(effects.began(), 0, "{:?}", effects.all());
    let lines = audited(&effects, 5).await;
    for line in lines {
        let said =
            ["method", "about", "decision", "reason"].map(|name| line[name].as_str().unwrap_or_default());
        assert_eq!(said, ["tools/call", "do", "refused", "no-id"], "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_in_a_batch_nor_without_a_handshake() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::speaking(&guard.url, "2025-03-26").await;
    let came = raw.post(json!([payment(), payment(), payment()]).to_string()).await.expect("it answers");
    let answers = came.message().expect("they are answered");
    let codes: Vec<_> =
        answers.as_array().expect("a batch").iter().map(|one| &one["error"]["code"]).collect();
    assert_eq!(codes, [-32600, -32600, -32600], "{came:?}");
    let stateless = Raw::new(&guard.url).request(payment().to_string());
    let stateless = stateless.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
    assert_eq!(stateless.header("mcp-name", "do").send().await.expect("it answers").status().as_u16(), 400);
    look(&raw).await;
    assert_eq!(effects.began(), 0, "{:?}", effects.all());
    audited(&effects, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_else_acts_needs_an_id_and_is_written_down() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    let methods = ["resources/read", "prompts/get", "completion/complete", "tasks/cancel", "made/up"];
    for method in methods {
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": "a:b" } });
        assert_eq!(raw.post(message.to_string()).await.expect("it answers").status, 400, "{method}");
        message["id"] = json!(method);
        let came = raw.post(message.to_string()).await.expect("it answers").message().expect("a message");
        assert_eq!(came["error"]["message"], "no such method", "{method}: the server is asked");
    }
    let lines = audited(&effects, 2 * methods.len()).await;
    for (pair, method) in lines.chunks(2).zip(methods) {
        assert!(pair.iter().all(|line| line["method"] == method), "{pair:?}");
        let decisions: Vec<_> =
            pair.iter().map(|line| line["decision"].as_str().unwrap_or_default()).collect();
        assert_eq!(decisions, ["refused", "passed"], "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_the_policy_denies_reaches_no_server() {
    let effects = Effects::new();
    let audit = effects.file("audit").display().to_string();
    let guard = effects
        .configured(&format!(
            "[audit]\npath = {audit:?}\n[requests]\ndeny = [\"resources/*\", \"made/*\", \"ping\"]\n"
        ))
        .serve();
    let raw = Raw::connected(&guard.url).await;
    for (method, said) in [
        ("resources/read", "the policy of the guard in front of this server does not allow this method"),
        ("resources/list", "the policy of the guard in front of this server does not allow this method"),
        ("made/up", "the policy of the guard in front of this server does not allow this method"),
        ("prompts/get", "no such method"),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": { "uri": "a:b" } });
        let came = raw.post(message.to_string()).await.expect("it answers").message().expect("a message");
        assert_eq!(came["error"]["message"], said, "{method}");
    }
    look(&raw).await;
    let lines = audited(&effects, 4).await;
    let decisions: Vec<_> = lines.iter().map(|line| line["decision"].as_str().unwrap_or_default()).collect();
    assert_eq!(decisions, ["refused", "refused", "refused", "passed"], "{lines:?}");
    assert!(lines.iter().take(3).all(|line| line["reason"] == "denied"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_with_an_id_cancels_nobody_elses_call() {
    let (effects, folder) = (Effects::new(), scratch());
    let guard = guard(&effects);
    let (victim, other) = (Raw::connected(&guard.url).await, Raw::connected(&guard.url).await);
    let end = folder.path().join("end");
    let arguments = json!({ "name": "work", "ms": 600_000, "until": end, "obeys": true });
    let params = json!({ "name": "do", "arguments": arguments });
    let call = tokio::spawn(async move { victim.call(json!(1), &params).await });
    until("it has begun", || effects.began() == 1).await;
    for number in 0..20 {
        let forged = json!({
            "jsonrpc": "2.0", "id": 100 + number, "method": "notifications/cancelled", "params": { "requestId": number },
        });
        let came = other.post(forged.to_string()).await.expect("it answers").message().expect("a message");
        assert_eq!(came["error"]["code"], -32600, "{came}");
    }
    look(&other).await;
    std::fs::write(&end, "").expect("it is written");
    call.await.expect("no panic").expect("it answers");
    assert_eq!(effects.all(), ["begin work", "end work"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_only_some_readers_tell_apart_are_refused() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"do"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","NAME":"do"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"},"paramſ":{"name":"do"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","m\u0065thod":"ping","params":{"name":"do"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\ud800","params":{"name":"do"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do"},"result":{}}"#,
    ] {
        let came = raw.post(text).await.expect("it answers");
        assert_eq!(came.status, 400, "{text}: {came:?}");
    }
    look(&raw).await;
    assert_eq!(effects.began(), 0, "{:?}", effects.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_names_what_it_works_on_twice_does_not_run() {
    let effects = Effects::new();
    let guard = effects.line().guarded(&["--listen", "127.0.0.1:0", "--lock", "do=call:{args.name}"]).serve();
    let raw = Raw::connected(&guard.url).await;
    for arguments in [r#"{"name":"a","name":"b"}"#, r#"{"name":"a","Name":"b"}"#] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"do","arguments":{arguments}}}}}"#
        );
        let came = raw.post(body).await.expect("it answers").message().expect("a message");
        assert_eq!(came["result"]["isError"], true, "{came}");
    }
    assert_eq!(effects.began(), 0, "{:?}", effects.all());
}

//! Calls that are still under way when the closing guard's patience is over, or when a client goes that has no other way to say that it does
//! not want them any more: cancelled at their server, as its revision has it.

use serde_json::json;

use crate::{
    effects::{Effects, configured},
    kit::{Client, Said, Serving, scratch, until},
    raw::Raw,
};

/// A call that would take a thousand seconds. Told to stop, it does if it `obeys`.
fn endless(client: &Client, name: &'static str, obeys: bool) -> tokio::task::JoinHandle<Said> {
    let client = client.clone();
    let wish = json!({ "name": name, "ms": 1_000_000, "obeys": obeys });
    tokio::spawn(async move { client.call("do", wish).await })
}

async fn told_to_end(guard: Serving, effects: &Effects, calls: usize) -> Option<i32> {
    until("the calls have begun", || effects.began() == calls).await;
    guard.signal("TERM");
    guard.ended().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_told_of_each_call_and_may_answer_before_it_is_ended() {
    let effects = Effects::new();
    let options = ["--listen", "127.0.0.1:0", "--grace", "100", "--lock", "do=call:{args.name}"];
    let guard = effects.line().guarded(&options).serve();
    let client = guard.client().await;
    let calls = [endless(&client, "obedient", true), endless(&client, "stubborn", false)];
    assert_eq!(told_to_end(guard, &effects, 2).await, Some(2), "they did not finish in time");
    let [obedient, stubborn] = calls.map(async |call| call.await.expect("it is answered"));
    assert_eq!(obedient.await.text(), "it was stopped");
    let stubborn = stubborn.await;
    assert!(stubborn.is_error && stubborn.text().contains("the server's process"), "{stubborn:?}");
    let mut noted = effects.all().split_off(2);
    assert_eq!(noted.pop().as_deref(), Some("closed"), "its input is closed after that");
    noted.sort_unstable();
    assert_eq!(noted, ["cancelled obedient", "cancelled stubborn"]);
}

/// A call to a server over HTTP that is under way when the guard is told to end: what is said to its caller, and what the server notes.
async fn over_http(era: &str, obeys: bool) -> (Said, Vec<String>) {
    let (effects, folder) = (Effects::new(), scratch());
    let server = effects.over_http(era);
    let policy = format!(
        "[defaults]\nclose = \"100ms\"\n[[upstream]]\nname = \"effects\"\nurl = \"{}\"\n",
        server.url
    );
    let guard = configured(folder.path(), &policy).serve();
    let client = guard.client().await;
    let call = endless(&client, "call", obeys);
    assert_eq!(told_to_end(guard, &effects, 1).await, Some(2), "it did not finish in time");
    let said = call.await.expect("it is answered");
    until("the server has noticed", || effects.all().len() > 1).await;
    (said, effects.all().split_off(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_a_server_with_a_handshake_is_told_and_may_answer() {
    let (said, noted) = over_http("handshake", true).await;
    assert_eq!((said.text(), noted.first().map(String::as_str)), ("it was stopped", Some("cancelled call")));
    let (said, noted) = over_http("handshake", false).await;
    assert_eq!(noted.first().map(String::as_str), Some("cancelled call"));
    assert!(said.is_error && said.text().contains("cancelled, because the guard closes"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_without_a_handshake_the_stream_of_the_call_is_closed() {
    let (said, noted) = over_http("stateless", false).await;
    assert_eq!(noted, ["gone call"]);
    assert!(said.is_error && said.text().contains("cancelled, because the guard closes"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_closes_the_stream_of_a_call_without_a_handshake_cancels_it_at_a_process_too() {
    let effects = Effects::new();
    let policy = "[[tool]]\nmatch = \"do\"\nlock = \"call:{args.name}\"\ncancel = \"pass\"\n";
    let guard = effects.configured(policy).serve();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wish = |until: &str| {
        let arguments = json!({ "name": "call", "ms": 60_000, "until": until });
        let params = json!({ "name": "do", "arguments": arguments, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = Raw::new(&guard.url).request(call.to_string());
        let request = request.header("mcp-protocol-version", "2026-07-28");
        request.header("mcp-method", "tools/call").header("mcp-name", "do")
    };
    let folder = scratch();
    let end = folder.path().join("end");
    let call = tokio::spawn(wish(&end.display().to_string()).send());
    until("the call has begun", || effects.began() == 1).await;
    call.abort();
    until("the server was told", || effects.all().contains(&"cancelled call".to_owned())).await;
    // It goes on all the same, and so what it holds stays held: the next one begins when it has ended.
    let next = tokio::spawn(wish("/").send());
    std::fs::write(&end, "").expect("it is written");
    assert!(next.await.expect("no panic").expect("it is answered").status().is_success());
    let mut noted = effects.all();
    // One process was asked which era it speaks, and ended.
    noted.retain(|line| line != "closed");
    assert_eq!(noted, ["begin call", "cancelled call", "end call", "begin call", "end call"]);
}

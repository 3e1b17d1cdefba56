//! The ways in: how many may come, from where, in a browser, and while the guard closes.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    effects::Effects,
    kit::{Serving, free_address, until},
    operations::get,
    page::look,
    raw::Raw,
};

const PER_SESSION: &str = "sharing = \"per-session\"\n";

/// A guard that has such an entry for its server.
fn with_upstream(effects: &Effects, policy: &str, upstream: &str) -> Serving {
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let text = format!("{policy}\n[[upstream]]\nname = \"effects\"\ncommand = {command}\n{upstream}");
    crate::effects::configured(effects.file("").as_path(), &text).serve()
}

fn address(guard: &Serving) -> &str {
    guard.url.trim_start_matches("http://").trim_end_matches("/mcp")
}

/// The answer to a handshake.
async fn hello(raw: &Raw, capabilities: Value) -> (Option<String>, Value) {
    let info = json!({ "name": "raw", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = raw.request(hello.to_string()).send().await.expect("it answers");
    let session = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    (session, answer.json().await.unwrap_or_default())
}

/// How many servers a guard runs. The process that would end them with it is none of them.
fn children(guard: &Serving) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", guard.child.id())).expect("it runs");
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let is_server = |pid: &&str| {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        command.is_ok_and(|command| command.contains("effects.py"))
    };
    children.map(|list| list.split_whitespace().filter(is_server).count()).sum()
}

/// What comes back for these bytes, until the guard closes.
async fn bytes(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_without_end_of_sessions_has_a_bounded_number_of_processes() {
    let effects = Effects::new();
    let bounds = format!("{PER_SESSION}processes = 5\nprocesses_per_caller = 3\n");
    let keys = "[[identity.api_key]]\nname = \"a\"\nenv = \"KEY_A\"\n\n[[identity.api_key]]\nname = \"b\"\nenv = \"KEY_B\"\n";
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let text = format!("{keys}\n[[upstream]]\nname = \"effects\"\ncommand = {command}\n{bounds}");
    let guard = crate::effects::configured(effects.file("").as_path(), &text)
        .env("KEY_A", "the-secret-of-caller-a")
        .env("KEY_B", "the-secret-of-caller-b")
        .serve();
    let (a, b) =
        (Raw::known(&guard.url, "the-secret-of-caller-a"), Raw::known(&guard.url, "the-secret-of-caller-b"));
    let mut sessions = Vec::new();
    let mut said = Vec::new();
    for _ in 0..20 {
        let (session, answer) = hello(&a, json!({})).await;
        sessions.extend(session);
        said.push(answer);
    }
    assert_eq!(sessions.len(), 3, "{said:?}");
    let refusal = said[3]["error"]["message"].as_str().expect("it is told");
    assert!(
        refusal.contains("you have 3 processes") && refusal.contains("processes_per_caller"),
        "{refusal}"
    );
    assert_eq!(children(&guard), 3);
    // Another caller has room, up to what all may have.
    let mut others = 0;
    for _ in 0..5 {
        let (session, answer) = hello(&b, json!({})).await;
        others += usize::from(session.is_some());
        if let Some(refusal) = answer["error"]["message"].as_str() {
            assert!(refusal.contains("callers have 5 processes"), "{refusal}");
        }
    }
    assert_eq!((others, children(&guard)), (2, 5));
    // A session that ends makes room, as soon as its process is gone.
    a.end(&sessions[0]).await;
    until("its process is gone", || children(&guard) == 4).await;
    loop {
        if hello(&a, json!({})).await.0.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(children(&guard), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_heads_of_one_address_do_not_shut_others_out() {
    let effects = Effects::new();
    // Nobody is given up for being slow in this test: only the bounds help.
    let guard =
        with_upstream(&effects, "[listen]\nconnections = 64\nidle_per_address = 100\nslow = \"1h\"\n", "");
    let client = Raw::connected(&guard.url).await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(address(&guard)).await.expect("it listens");
        stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: ").await.expect("it reads");
        slow.push(stream);
    }
    // Loopback has as many addresses as one likes.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.2:0".parse().expect("an address")).expect("loopback has it");
    let mut other = socket.connect(address(&guard).parse().expect("an address")).await.expect("it listens");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{ping}",
        ping.len()
    );
    other.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    other.read_to_string(&mut answer).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("Mcp-Session-Id"), "{answer}");
    // And who has a session from the flooding address is served as well: its own slow heads make room.
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(client.post(list).await.expect("it answers").status, 200);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_announced_and_not_sent_take_no_room_from_others() {
    let effects = Effects::new();
    let guard = with_upstream(&effects, "[listen]\nslow = \"1h\"\n", "");
    let mut slow = Vec::new();
    // Together they announce more than the guard holds at once.
    for _ in 0..100 {
        let mut stream = TcpStream::connect(address(&guard)).await.expect("it listens");
        let head = "POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.expect("it reads");
        slow.push(stream);
    }
    let client = Raw::connected(&guard.url).await;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(client.post(list).await.expect("it answers").status, 200);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_a_share_of_the_connections_on_which_nothing_is_asked() {
    let effects = Effects::new();
    let guard = with_upstream(&effects, "[listen]\nidle_per_address = 4\nslow = \"1h\"\n", "");
    let mut waiting = Vec::new();
    for _ in 0..5 {
        waiting.push(TcpStream::connect(address(&guard)).await.expect("it listens"));
    }
    // The first one is closed, the others are not.
    assert_eq!(waiting[0].read(&mut [0]).await.ok(), Some(0));
    let mut last = waiting.pop().expect("five");
    last.write_all(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("it reads");
    let mut answer = [0; 12];
    last.read_exact(&mut answer).await.expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 404");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_none_or_two_origins_are_refused_and_who_has_no_credential_is_counted() {
    let (effects, admin) = (Effects::new(), free_address());
    let log = effects.file("log");
    let guard = effects
        .configured("[[identity.api_key]]\nname = \"a\"\nenv = \"KEY_A\"\n")
        .env("KEY_A", "the-secret-of-caller-a")
        .with(&["--admin", &admin, "--log", "json"])
        .logging_to(&log)
        .serve();
    for (head, status) in [
        ("host: a\r\nhost: b\r\n", 400),
        ("host: a\r\nhost: a\r\n", 400),
        ("", 400),
        ("host: a b\r\n", 400),
        ("host: a\r\norigin: http://localhost\r\norigin: http://localhost\r\n", 400),
        ("host: a\r\norigin: https://evil.example\r\n", 403),
        ("host: a\r\n", 401),
        ("host: a\r\nx-api-key: wrong\r\n", 401),
        (
            "host: a\r\nx-api-key: the-secret-of-caller-a\r\nauthorization: Bearer the-secret-of-caller-a\r\n",
            401,
        ),
    ] {
        let request = format!("GET /mcp HTTP/1.1\r\n{head}connection: close\r\n\r\n");
        let answer = bytes(address(&guard), &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{head:?}: {answer}");
        if head.contains("authorization") {
            assert!(answer.contains("several credentials"), "{answer}");
        }
    }
    let (_, metrics) = get(&admin, "/metrics").await;
    for (reason, count) in
        [("host", 4), ("origin", 2), ("no-credential", 1), ("unknown-key", 1), ("several-credentials", 1)]
    {
        let line = format!("interlock_guard_requests_turned_away_total{{reason=\"{reason}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
    until("it is logged", || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        ["no-credential", "unknown-key", "host"]
            .iter()
            .all(|reason| log.contains(&format!("\"event\":\"turned away\",\"reason\":\"{reason}\"")))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_closes_a_running_call_can_still_ask_its_client_and_new_calls_are_told_why_not() {
    let effects = Effects::new();
    let guard = with_upstream(&effects, "", PER_SESSION);
    let mut raw = Raw::new(&guard.url);
    let (session, _) = hello(&raw, json!({ "elicitation": {} })).await;
    raw.session = session;
    raw.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await.expect("it hears");
    let params = json!({ "name": "ask", "arguments": { "name": "one" } });
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    // What a server with a handshake asks by itself comes on the stream that belongs to no request.
    let mut asked = raw.stream().await;
    let asking = raw.clone();
    let answered = tokio::spawn(async move { asking.post(ask.to_string()).await });
    let mut heard = String::new();
    let question: Value = loop {
        let chunk = asked.chunk().await.expect("it goes on").expect("it does not end");
        heard += &String::from_utf8_lossy(&chunk);
        let events = heard.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        if let Some(question) = messages.find(|message| message["method"] == "elicitation/create") {
            break question;
        }
    };
    guard.signal("TERM");
    // From some moment on calls are refused, in words and not by a closed port.
    let call = json!({ "name": "look", "arguments": {} });
    let refusal = loop {
        let came = raw.call(json!(2), &call).await.expect("somebody listens").message().expect("a message");
        if came["result"]["isError"] == true {
            break came;
        }
    };
    assert_eq!(refusal["result"]["_meta"]["dev.interlock/refusal"]["reason"], "closed", "{refusal}");
    let late = Raw::new(&guard.url);
    let came = late.post(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"late","version":"1"}}}"#);
    let came = came.await.expect("somebody listens");
    assert_eq!(came.status, 503, "{came:?}");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": { "really": true } } });
    assert_eq!(raw.post(answer.to_string()).await.expect("somebody listens").status, 202);
    let came = answered.await.expect("it goes on").expect("it is answered");
    assert!(came.body.contains("it was answered"), "{came:?}");
    assert_eq!(guard.ended().await, Some(0));
    assert!(effects.all().contains(&"answered one".to_owned()));
}

/// A page that calls a guard as a client in a browser does, and says what came of it in `window.told`.
const PAGE: &str = r##"<!doctype html><title>page</title><script>
const url = "URL";
async function main() {
  const headers = { "content-type": "application/json", "accept": "application/json, text/event-stream", "authorization": "Bearer the-secret-of-caller-a" };
  const hello = { jsonrpc: "2.0", id: 0, method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } } };
  const greeted = await fetch(url, { method: "POST", headers, body: JSON.stringify(hello) });
  const session = greeted.headers.get("mcp-session-id");
  const own = { ...headers, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "look", arguments: {} } };
  const called = await (await fetch(url, { method: "POST", headers: own, body: JSON.stringify(call) })).json();
  const ended = await fetch(url, { method: "DELETE", headers: own });
  const wrong = await fetch(url, { method: "POST", headers: { ...headers, authorization: "Bearer wrong" }, body: "{}" });
  return { session: session && session.length, called: !!called.result, ended: ended.status, wrong: wrong.status,
    challenge: wrong.headers.get("www-authenticate") };
}
main().then(told => window.told = told, error => window.told = { failed: String(error) });
</script>"##;

/// Serves a page to whoever asks, as soon as there is one. Gives the port.
fn pages(page: Arc<OnceLock<String>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let page = page.get().map(String::as_str).unwrap_or_default();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_browser_a_page_of_an_allowed_origin_can_call_and_one_of_another_cannot() {
    let effects = Effects::new();
    let page = Arc::<OnceLock<String>>::default();
    let port = pages(Arc::clone(&page));
    let policy = format!(
        "[listen]\norigins = [\"http://127.0.0.1:{port}\"]\n\n[[identity.api_key]]\nname = \"a\"\nenv = \"KEY_A\"\n"
    );
    let guard = effects.configured(&policy).env("KEY_A", "the-secret-of-caller-a").serve();
    page.set(PAGE.replace("URL", &guard.url)).expect("it is set once");
    let picture = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("guard-cors.png");
    let mut told = Vec::new();
    for host in ["127.0.0.1", "localhost"] {
        let task = json!({
            "url": format!("http://{host}:{port}/"), "ready": "!!window.told", "read": "window.told",
            "shots": [{ "scheme": "light", "width": 300, "height": 200, "file": picture }],
        });
        let mut saw = tokio::task::spawn_blocking(move || look(&task)).await.expect("it looks");
        told.push(saw["seen"][0].take());
    }
    assert_eq!((&told[0]["called"], &told[0]["session"]), (&json!(true), &json!(32)), "{told:?}");
    assert_eq!((&told[0]["ended"], &told[0]["wrong"]), (&json!(200), &json!(401)), "{told:?}");
    assert!(told[0]["challenge"].as_str().is_some_and(|text| text.contains("Bearer")), "{told:?}");
    assert!(told[1]["failed"].as_str().is_some_and(|text| text.contains("fetch")), "{told:?}");
    drop(guard);
}

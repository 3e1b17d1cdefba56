//! Clients that do not behave: clear errors, bounded memory, and others are served.

use serde_json::{Value, json};

use crate::{
    effects::Effects,
    kit::{Serving, resident},
    raw::Raw,
};

/// So much may a guard grow over one of these, in KiB.
const ROOM: u64 = 64 * 1024;

fn guard(effects: &Effects) -> Serving {
    effects.line().guarded(&["--listen", "127.0.0.1:0"]).serve()
}

/// Somebody else is served, and the guard has not grown.
async fn assert_is_well(guard: &Serving, before: u64, after_what: &str) {
    let client = guard.client().await;
    assert!(!client.call("look", json!({})).await.is_error, "{after_what}");
    let grown = resident(guard.child.id()).saturating_sub(before);
    assert!(grown < ROOM, "{after_what}: it grew by {grown} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_no_messages_are_answered_with_what_is_wrong() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    let before = resident(guard.child.id());
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(1 << 20));
    for body in
        ["", "{", "nonsense", "[]", "null", "7", "{\"jsonrpc\":\"1.0\"}", "{\"id\":1}", &deep, "\u{0}\u{0}"]
    {
        let came = raw.post(body.to_owned()).await.expect("it answers");
        let start: String = body.chars().take(40).collect();
        assert!((400..500).contains(&came.status), "{start}: {came:?}");
    }
    let came = raw.post(vec![0xff, 0xfe, b'{', b'}']).await.expect("it answers");
    assert!((400..500).contains(&came.status), "{came:?}");
    assert_is_well(&guard, before, "junk").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_100_mb_is_turned_away_without_being_kept() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    let before = resident(guard.child.id());
    for _ in 0..3 {
        // It may hang up before all is sent, which the client sees as an error.
        if let Ok(came) = raw.post(vec![b' '; 100 << 20]).await {
            assert_eq!(came.status, 413);
        }
    }
    assert_is_well(&guard, before, "100 MB").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_every_kind_come_back_as_they_were_and_others_are_refused() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::connected(&guard.url).await;
    let look = json!({ "name": "look", "arguments": {} });
    for id in [
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_993_i64),
        json!(""),
        json!("ünïcode \u{1F512}"),
        json!("0"),
    ] {
        let came = raw.call(id.clone(), &look).await.expect("it answers");
        let message = came.message().unwrap_or_else(|| panic!("{id}: {came:?}"));
        assert_eq!(message["id"], id, "{message}");
        assert!(message["error"].is_null(), "{message}");
    }
    for id in [json!(null), json!(true), json!([]), json!({}), json!(1.5)] {
        let came = raw.call(id.clone(), &look).await.expect("it answers");
        let refused = came.status >= 400 || came.message().is_some_and(|message| !message["error"].is_null());
        let passed =
            came.message().is_some_and(|message| message["id"] == id && !message["result"].is_null());
        assert!(refused || passed, "{id}: {came:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_used_twice_at_once_confuses_nobody_else() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let (raw, other) = (Raw::connected(&guard.url).await, Raw::connected(&guard.url).await);
    let params = |name: &str| json!({ "name": "do", "arguments": { "name": name, "ms": 20 } });
    let (one, two, three) = (params("one"), params("two"), params("three"));
    let (one, two, three) =
        tokio::join!(raw.call(json!(5), &one), raw.call(json!(5), &two), other.call(json!(5), &three));
    let ours: Vec<Value> = [one, two].into_iter().filter_map(|came| came.ok()?.message()).collect();
    assert!(ours.iter().any(|message| !message["result"].is_null()), "{ours:?}");
    let theirs = three.expect("it answers").message().expect("a message");
    assert!(theirs["id"] == json!(5) && !theirs["result"].is_null(), "{theirs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_and_origins_that_are_made_up_are_refused() {
    let effects = Effects::new();
    let guard = guard(&effects);
    let raw = Raw::new(&guard.url);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let forged =
        raw.request(ping).header("mcp-session-id", "made-up").header("mcp-protocol-version", "2025-11-25");
    assert_eq!(forged.send().await.expect("it answers").status().as_u16(), 404);
    let foreign = raw.request(ping).header("origin", "https://evil.example");
    assert_eq!(foreign.send().await.expect("it answers").status().as_u16(), 403);
    let version = raw.request(ping).header("mcp-protocol-version", "1066-10-14");
    assert_eq!(version.send().await.expect("it answers").status().as_u16(), 400);
    let before = resident(guard.child.id());
    assert_is_well(&guard, before, "forged headers").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_asks_ten_thousand_times_and_reads_nothing_is_bounded() {
    use tokio::io::AsyncWriteExt;
    let effects = Effects::new();
    let guard = guard(&effects);
    let before = resident(guard.child.id());
    let address = guard.url.trim_start_matches("http://").split('/').next().expect("an address");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connections = Vec::new();
    for _ in 0..100 {
        let Ok(mut connection) = tokio::net::TcpStream::connect(address).await else { break };
        for _ in 0..100 {
            // Whoever does not read is at some point not read from either.
            let sent = tokio::time::timeout(
                std::time::Duration::from_millis(50),
                connection.write_all(request.as_bytes()),
            );
            if !matches!(sent.await, Ok(Ok(()))) {
                break;
            }
        }
        connections.push(connection);
    }
    assert_is_well(&guard, before, "10,000 requests of one who reads nothing").await;
    drop(connections);
}

//! Clients that mean no good, or know no better.

use std::time::Duration;

use interlock_guard::{
    listen::Options,
    policy::{ListenLimits, Sharing},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::kit::{
    PATIENCE, call, engine, hello, listening, over_parrot, parrot, post, raw, session, text, upstream,
};

#[tokio::test]
async fn bodies_that_are_no_messages_are_refused_with_words() {
    let address = over_parrot(Sharing::One).await;
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(1_000_000));
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("nul", -32700),
        ("\"text\"", -32600),
        ("[]", -32600),
        ("[1]", -32600),
        (deep.as_str(), -32700),
    ] {
        let got = post(address, "", body).await;
        assert_eq!((got.status, got.code()), (400, code), "{body:.20}");
    }
    let own = session(address).await;
    for id in ["null", "1.5", "false", "{}", "[]"] {
        let got = post(address, &own, &call(id, "echo", "{}")).await;
        assert_eq!((got.status, got.code()), (400, -32600), "{id}");
    }
    let batch = post(address, &own, &format!("[{}]", call("1", "echo", "{}"))).await;
    assert_eq!((batch.status, batch.code()), (400, -32600));
}

#[tokio::test]
async fn a_body_may_not_be_longer_than_allowed_however_it_is_sent() {
    let address = over_parrot(Sharing::One).await;
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let stated = raw(address, format!("{head}content-length: 104857600\r\n\r\n{{").as_bytes()).await;
    assert_eq!(stated.status, 413);
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{}", chunk.repeat(8));
    let got = raw(address, chunked.as_bytes()).await;
    assert!(matches!(got.status, 413 | 0), "{got:?}");
}

#[tokio::test]
async fn pages_of_other_origins_may_not_call() {
    let address = over_parrot(Sharing::One).await;
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1", 200),
        ("http://localhost.evil.example", 403),
    ] {
        let got = post(address, &format!("origin: {origin}\r\n"), &hello("2025-11-25", "{}")).await;
        assert_eq!(got.status, status, "{origin}");
    }
}

#[tokio::test]
async fn who_is_too_slow_is_cut_off() {
    let limits = ListenLimits { slow: Duration::from_millis(300), ..ListenLimits::default() };
    let options = Options { limits, ..Options::default() };
    let address = listening(engine(vec![upstream("parrot", "", parrot(), Sharing::One)]), options).await;
    let head = raw(address, b"POST /mcp HTTP/1.1\r\nhost: ").await;
    assert!(matches!(head.status, 0 | 408), "{head:?}");
    let body = raw(
        address,
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    )
    .await;
    assert_eq!(body.status, 408);
}

#[tokio::test]
async fn a_client_that_sends_ten_thousand_requests_and_reads_nothing_stops_nobody_else() {
    let address = over_parrot(Sharing::One).await;
    let own = session(address).await;
    let body = call("1", "heard", "{}");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{own}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let greedy = tokio::spawn(async move {
        let mut streams = Vec::new();
        for _ in 0..100 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let _ =
                timeout(Duration::from_millis(20), stream.write_all(request.repeat(100).as_bytes())).await;
            streams.push(stream);
        }
        std::future::pending::<()>().await;
    });
    let other = session(address).await;
    for _ in 0..20 {
        let got = timeout(PATIENCE, post(address, &other, &call("1", "echo", "{}"))).await.unwrap();
        assert!(text(&got.json()).contains("echo"));
    }
    greedy.abort();
}

#[tokio::test]
async fn a_fence_that_a_client_made_up_does_not_arrive() {
    let address = over_parrot(Sharing::One).await;
    let own = session(address).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"dev.interlock/fence":999}}}"#;
    let got = post(address, &own, body).await;
    assert!(!text(&got.json()).contains("999"), "{got:?}");
}

#[tokio::test]
async fn a_request_half_sent_and_dropped_leaves_the_guard_as_it_was() {
    let address = over_parrot(Sharing::One).await;
    for cut in [1, 20, 60, 120] {
        let whole = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 200\r\n\r\n{}",
            " ".repeat(100)
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&whole.as_bytes()[..cut]).await.unwrap();
        drop(stream);
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"\x16\x03\x01\x00\xa5\x01\x00\x00").await.unwrap();
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("what is no HTTP is closed");
    let own = session(address).await;
    assert_eq!(post(address, &own, &call("1", "echo", "{}")).await.status, 200);
}

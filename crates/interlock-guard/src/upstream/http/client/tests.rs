//! A server of sockets alone, so that it can hang up when real ones rarely do.

use http_body_util::BodyExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use super::*;

/// What happened at the server.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Connected,
    Asked(String),
    HungUp,
}

/// Answers each request of a connection with what stands there for it, and hangs up afterwards.
async fn server(answers: &'static [&'static str]) -> (String, mpsc::UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?x=1", listener.local_addr().unwrap());
    let (tell, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let tell = tell.clone();
            let _ = tell.send(Seen::Connected);
            tokio::spawn(async move {
                for answer in answers {
                    let mut asked = vec![0; 4096];
                    let length = stream.read(&mut asked).await.unwrap_or(0);
                    if length == 0 {
                        break;
                    }
                    let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
                    let _ = tell.send(Seen::Asked(asked.lines().next().unwrap_or_default().to_owned()));
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
                drop(stream);
                let _ = tell.send(Seen::HungUp);
            });
        }
    });
    (url, seen)
}

fn request(url: &str) -> Request<Bytes> {
    Request::post(url).body("{}".into()).unwrap()
}

async fn asked(client: &Client, url: &str) -> String {
    let body = client.send(request(url)).await.unwrap().into_body();
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[tokio::test]
async fn a_connection_is_used_again_after_its_answer_has_come() {
    let (url, mut seen) = server(&[OK, OK, OK]).await;
    let client = Client::new(false).unwrap();
    for _ in 0..3 {
        assert_eq!(asked(&client, &url).await, "ok");
    }
    assert_eq!(seen.recv().await, Some(Seen::Connected));
    for _ in 0..3 {
        assert_eq!(seen.recv().await, Some(Seen::Asked("POST /mcp?x=1 HTTP/1.1".to_owned())));
    }
}

#[tokio::test]
async fn a_connection_on_which_the_server_hung_up_is_replaced_and_nothing_is_asked_twice() {
    let (url, mut seen) = server(&[OK]).await;
    let client = Client::new(false).unwrap();
    for _ in 0..3 {
        assert_eq!(asked(&client, &url).await, "ok");
        assert_eq!(seen.recv().await, Some(Seen::Connected));
        assert!(matches!(seen.recv().await, Some(Seen::Asked(_))));
        assert_eq!(seen.recv().await, Some(Seen::HungUp));
        // The runtime hears from the system only when it has nothing else to do.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error_and_one_that_is_dropped_ends_its_connection() {
    let (url, mut seen) = server(&["HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf"]).await;
    let client = Client::new(false).unwrap();
    let body = client.send(request(&url)).await.unwrap().into_body();
    assert!(body.collect().await.is_err());
    let (slow_url, mut slow_seen) = server(&["HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf", OK]).await;
    drop(client.send(request(&slow_url)).await.unwrap());
    for seen in [&mut seen, &mut slow_seen] {
        assert_eq!(seen.recv().await, Some(Seen::Connected));
        assert!(matches!(seen.recv().await, Some(Seen::Asked(_))));
        assert_eq!(seen.recv().await, Some(Seen::HungUp));
    }
    assert!(slow_seen.try_recv().is_err(), "nobody connected again");
}

#[tokio::test]
async fn a_request_without_any_answer_may_have_run_and_one_that_nobody_took_has_not() {
    let (url, _seen) = server(&[""]).await;
    let client = Client::new(false).unwrap();
    assert!(client.send(request(&url)).await.err().unwrap().may_have_run);
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert!(!client.send(request(&format!("http://{gone}/"))).await.err().unwrap().may_have_run);
}

#[tokio::test]
async fn an_answer_in_chunks_is_put_together_and_its_connection_used_again() {
    const CHUNKS: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\na: b\r\n\r\n";
    let (url, mut seen) = server(&[CHUNKS, CHUNKS]).await;
    let client = Client::new(false).unwrap();
    for _ in 0..2 {
        assert_eq!(asked(&client, &url).await, "abc0123456789");
    }
    assert_eq!(seen.recv().await, Some(Seen::Connected));
    for _ in 0..2 {
        assert!(matches!(seen.recv().await, Some(Seen::Asked(_))));
    }
}

#[tokio::test]
async fn what_comes_before_an_answer_is_passed_over() {
    const EARLY: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let (url, _seen) = server(&[EARLY]).await;
    assert_eq!(asked(&Client::new(false).unwrap(), &url).await, "ok");
}

/// How often somebody has to connect for two answers like this.
async fn connections(answer: &'static str, expected: &str) -> usize {
    let answers: &'static [&'static str] = Box::leak(Box::new([answer, answer]));
    let (url, mut seen) = server(answers).await;
    let client = Client::new(false).unwrap();
    let mut count = 0;
    for _ in 0..2 {
        assert_eq!(asked(&client, &url).await, expected, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    while let Ok(seen) = seen.try_recv() {
        count += usize::from(seen == Seen::Connected);
    }
    count
}

#[tokio::test]
async fn a_connection_is_only_used_again_when_it_is_certain_where_its_answer_ended() {
    let reused = [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\nCONTENT-LENGTH: 2\r\n\r\nok", "ok"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", ""),
    ];
    for (answer, expected) in reused {
        assert_eq!(connections(answer, expected).await, 1, "{answer:?}");
    }
    let replaced = [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: x, Close\r\n\r\nok", "ok"),
        ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n", "ok"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "ok",
        ),
    ];
    for (answer, expected) in replaced {
        assert_eq!(connections(answer, expected).await, 2, "{answer:?}");
    }
}

#[tokio::test]
async fn an_answer_without_a_length_ends_when_the_server_hangs_up() {
    let (url, _seen) = server(&["HTTP/1.1 200 OK\r\n\r\nall of it"]).await;
    assert_eq!(asked(&Client::new(false).unwrap(), &url).await, "all of it");
}

#[tokio::test]
async fn what_is_no_answer_is_an_error() {
    let long: &'static str =
        Box::leak(format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(100_000)).into_boxed_str());
    let many: &'static str =
        Box::leak(format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(300)).into_boxed_str());
    let wrong = [
        "SMTP 220\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokay",
        "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\nok",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        long,
        many,
    ];
    for wrong in wrong {
        let (url, _seen) = server(Box::leak(Box::new([wrong]))).await;
        let sent = Client::new(false).unwrap().send(request(&url)).await;
        assert!(sent.err().unwrap().may_have_run, "{wrong:?}");
    }
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let endless = format!("2;{}", "x".repeat(10_000));
    for chunks in
        ["\r\n", "x\r\n", "2\r\nokay\r\n", "2\r\nok\r\n0\r\n", "-1\r\n", "11111111111111111\r\n", &endless]
    {
        let answer: &'static str = Box::leak(format!("{start}{chunks}").into_boxed_str());
        let (url, _seen) = server(Box::leak(Box::new([answer]))).await;
        let body = Client::new(false).unwrap().send(request(&url)).await.unwrap().into_body();
        assert!(body.collect().await.is_err(), "{chunks:?}");
    }
}

#[tokio::test]
async fn a_server_that_answers_before_it_has_read_all_is_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let body = Bytes::from(vec![b'x'; 32 << 20]);
    let length = body.len();
    let read = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nso").await.unwrap();
        let (mut buffer, mut read) = (vec![0; 1 << 20], 0);
        while read < length {
            read += stream.read(&mut buffer).await.unwrap();
        }
        stream.write_all(b"on").await.unwrap();
        read
    });
    let client = Client::new(false).unwrap();
    let answer = client.send(Request::post(&url).body(body).unwrap()).await.unwrap().into_body();
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "soon");
    assert!(read.await.unwrap() >= length);
}

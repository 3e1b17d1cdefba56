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

fn request(url: &str) -> Request<Full<Bytes>> {
    Request::post(url).body(Full::from("{}")).unwrap()
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

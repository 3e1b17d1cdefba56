//! Key sets from a real server on loopback.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{
    super::Ways,
    kit::{Signer, bearer, claims, ec, jwt},
};
use crate::policy::{IdentityConfig, JwtAlgorithm, KeySource};

/// A server that answers every request with what was put there last.
struct Server {
    url: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Server {
    async fn start(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (answer, asked) = (Arc::new(Mutex::new(answer)), Arc::new(AtomicUsize::new(0)));
        let server = Self { url, answer: Arc::clone(&answer), asked: Arc::clone(&asked) };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4_096];
                let _ = stream.read(&mut head).await;
                asked.fetch_add(1, Ordering::SeqCst);
                let text = answer.lock().unwrap().clone();
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        server
    }

    fn ways(&self) -> Ways {
        let jwt = Some(jwt(KeySource::SetUrl(self.url.clone()), &[JwtAlgorithm::Es256]));
        Ways::open(&IdentityConfig { is_required: true, jwt, ..IdentityConfig::default() }).unwrap()
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn set(signer: &Signer, id: &str) -> String {
    ok(&json!({ "keys": [signer.member(id)] }).to_string())
}

#[tokio::test]
async fn a_set_is_fetched_and_one_that_cannot_be_leaves_the_last() {
    let (one, other) = (ec(), ec());
    let server = Server::start(set(&one, "1")).await;
    let ways = server.ways();
    assert_eq!(bearer(&ways, &one.token_of("1", &claims())), "the token's key is not known");
    assert_eq!(ways.fetch().await.unwrap(), Some(1));
    assert_eq!(bearer(&ways, &one.token_of("1", &claims())), "jwt:alice");
    for (answer, why) in [
        ("HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(), "500"),
        (
            format!(
                "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                server.url
            ),
            "302",
        ),
        (ok("{}"), "no key"),
        (ok(&" ".repeat(300 << 10)), "length limit exceeded"),
        ("garbage\r\n\r\n".to_owned(), "failed to fetch"),
    ] {
        *server.answer.lock().unwrap() = answer;
        let error = ways.fetch().await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(bearer(&ways, &one.token_of("1", &claims())), "jwt:alice");
    }
    *server.answer.lock().unwrap() = set(&other, "2");
    assert_eq!(ways.fetch().await.unwrap(), Some(1));
    assert_eq!(bearer(&ways, &other.token_of("2", &claims())), "jwt:alice");
    assert_eq!(bearer(&ways, &one.token_of("1", &claims())), "the token's key is not known");
}

#[tokio::test]
async fn a_key_that_is_missed_is_fetched_before_its_time_but_not_at_every_request() {
    let (one, other) = (ec(), ec());
    let server = Server::start(set(&one, "1")).await;
    let ways = server.ways();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    tokio::select! {
        outcome = ways.keep_fresh(|outcome| told.send(outcome.is_ok()).unwrap()) => panic!("{outcome:?}"),
        () = async {
            assert_eq!(heard.recv().await, Some(true));
            assert_eq!(bearer(&ways, &one.token_of("1", &claims())), "jwt:alice");
            *server.answer.lock().unwrap() = set(&other, "2");
            for _ in 0..100 {
                assert_eq!(bearer(&ways, &other.token_of("2", &claims())), "the token's key is not known");
            }
            // What takes five minutes by itself comes at once now, once.
            assert_eq!(heard.recv().await, Some(true));
            assert_eq!(bearer(&ways, &other.token_of("2", &claims())), "jwt:alice");
        } => {}
    }
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_asked() {
    // A listener that speaks TLS with a certificate of its own making.
    let tls = super::tls::Made::new().server(super::super::ClientCertificates::Unasked);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let jwt = Some(jwt(KeySource::SetUrl(url), &[JwtAlgorithm::Es256]));
    let ways = Ways::open(&IdentityConfig { is_required: true, jwt, ..IdentityConfig::default() }).unwrap();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        tls.accept(stream).await.map(|_| ()).unwrap_err().to_string()
    });
    assert!(ways.fetch().await.unwrap_err().to_string().contains("failed to fetch"));
    let alert = served.await.unwrap();
    assert!(alert.contains("UnknownCA"), "{alert}");
}

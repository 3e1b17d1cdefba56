//! The listener, asked over real connections.

use std::{sync::Arc, time::Duration};

use interlock_sync::{
    memory::MemoryStore,
    store::{Admission, Admitted, Fingerprint, Key, OnceKey, OpId, Store},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

use super::story::{day, ops, up};
use crate::{
    event::{Event, UpstreamState, Watch},
    ops::{AdminOptions, Ops, OpsOptions},
};

pub(super) struct Served {
    pub(super) ops: Arc<Ops>,
    pub(super) address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    pub(super) async fn start(options: OpsOptions) -> Self {
        let ops = ops(options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(Arc::clone(&ops).serve_admin(listener, async {
            let _ = stopped.await;
        }));
        Self { ops, address, stop, task }
    }

    pub(super) async fn get(&self, path: &str) -> (u16, String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)).await
    }

    /// Sends bytes and reads until the end: status, head, body.
    pub(super) async fn ask(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
    }

    pub(super) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

const DAY: Duration = Duration::from_secs(86_400);

fn store() -> Option<Arc<dyn Store>> {
    Some(Arc::new(MemoryStore::default()))
}

#[tokio::test]
async fn every_path_answers_and_nothing_can_be_changed() {
    let served = Served::start(OpsOptions { store: store(), ..OpsOptions::default() }).await;
    day(&served.ops);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/state.json", "application/json"),
        ("/doubts.json", "application/json"),
        ("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
        ("/health", "application/json"),
        ("/ready", "application/json"),
    ] {
        let (status, head, body) = served.get(path).await;
        assert_eq!(status, 200, "{path}");
        assert!(head.contains(&format!("content-type: {kind}")), "{path}: {head}");
        assert!(
            head.contains("content-security-policy: default-src 'none'") && head.contains("nosniff"),
            "{head}"
        );
        assert!(!body.is_empty());
    }
    assert_eq!(served.get("/else").await.0, 404);
    let post = format!(
        "POST /ready HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        served.address
    );
    assert_eq!(served.ask(&post).await.0, 405);
    served.stop().await;
}

#[tokio::test]
async fn what_is_in_doubt_is_shown_with_what_it_is_settled_with() {
    let store = store().unwrap();
    let once =
        |key: &str| OnceKey { key: Key::new(key).unwrap(), fingerprint: Fingerprint([1; 32]), keep: DAY };
    let mut fences = Vec::new();
    for key in ["once:bank:pay:alice:1", "seen-once:bank:pay:alice:1"] {
        let admission =
            Admission { once: Some(once(key)), ..Admission::new(OpId::fresh(), Duration::from_millis(1)) };
        let Admitted::Granted { fence } = store.admit(&admission).await.unwrap() else {
            panic!("it is free")
        };
        fences.push(fence.0.to_string());
    }
    let doubtful = || async { store.in_doubt("", None, 9).await.unwrap().len() };
    while doubtful().await < 2 {
        tokio::task::yield_now().await;
    }
    let served = Served::start(OpsOptions { store: Some(store), ..OpsOptions::default() }).await;
    let (status, _, body) = served.get("/doubts.json").await;
    let said: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, said["doubts"].as_array().map(Vec::len)), (200, Some(1)), "{body}");
    assert_eq!(said["doubts"][0]["key"], "once:bank:pay:alice:1");
    assert_eq!(said["doubts"][0]["fence"], fences[0]);
    assert_eq!(said["more"], false);
    served.stop().await;
}

#[tokio::test]
async fn other_sites_and_other_names_are_refused() {
    let served = Served::start(OpsOptions::default()).await;
    for head in ["host: evil.example", &format!("host: {}\r\norigin: https://evil.example", served.address)] {
        let (status, ..) =
            served.ask(&format!("GET /state.json HTTP/1.1\r\n{head}\r\nconnection: close\r\n\r\n")).await;
        assert_eq!(status, 403, "{head}");
    }
    served.stop().await;
}

#[tokio::test]
async fn readiness_says_what_is_missing() {
    let served = Served::start(OpsOptions { store: store(), ..OpsOptions::default() }).await;
    let (status, _, body) = served.get("/ready").await;
    assert_eq!(status, 503);
    assert_eq!(
        body,
        r#"{"ready":false,"missing":[{"what":"upstream","name":"memory","because":"starting: not started yet"}]}"#
    );
    up(&served.ops);
    assert_eq!(served.get("/ready").await.2, r#"{"ready":true,"missing":[]}"#);
    // One that nobody requires may be down.
    served.ops.note(&Event::Upstream { name: "extra", state: UpstreamState::Down, reason: "gone" });
    assert_eq!(served.get("/ready").await.0, 200);
    served.ops.note(&Event::Closing);
    let (status, _, body) = served.get("/ready").await;
    assert_eq!((status, body.contains(r#""what":"closing""#)), (503, true));
    assert_eq!(served.get("/health").await.0, 200);
    served.stop().await;
}

#[tokio::test]
async fn whoever_holds_all_connections_and_says_nothing_is_cut_off() {
    let admin = AdminOptions { connections: 4, ..AdminOptions::default() };
    let served = Served::start(OpsOptions { admin, ..OpsOptions::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(b"GET / HT").await.unwrap();
        silent.push(stream);
    }
    // The connections count from their acceptance, so the clock is stopped only after that: the fifth waits in the system's line.
    let fifth = served.get("/health");
    let (answer, ()) = tokio::join!(fifth, async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(11)).await;
        tokio::time::resume();
    });
    assert_eq!(answer.0, 200);
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    }
    served.stop().await;
}

#[tokio::test]
async fn an_answer_that_is_under_way_is_given_before_the_end() {
    let served = Served::start(OpsOptions::default()).await;
    let mut idle = TcpStream::connect(served.address).await.unwrap();
    idle.write_all(format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", served.address).as_bytes())
        .await
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    // A connection that is kept open for later does not hold the end up.
    served.stop().await;
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
}

//! A guard over real servers, and clients that see every byte.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration,
};

use interlock_guard::{
    desk::Desk,
    event::Nobody,
    listen::{self, Options},
    policy::{Processes, Reach, Rules, Sharing, UpstreamConfig},
    session::Engine,
    upstream::Upstream,
};
use interlock_sync::{clock::SystemClock, memory::MemoryStore};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Long enough for a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The server whose tools show what reached it.
pub(crate) fn parrot() -> Reach {
    parrot_with(&[])
}

/// The same with arguments.
pub(crate) fn parrot_with(arguments: &[&str]) -> Reach {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(build_parrot);
    let command = std::iter::once(BUILT.display().to_string());
    let command = command.chain(arguments.iter().map(|&argument| argument.to_owned())).collect();
    Reach::Command { command, env: BTreeMap::new(), folder: None }
}

/// `cargo test --all-targets` builds examples as tests only, so the program is asked for by its name.
fn build_parrot() -> PathBuf {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let build = ["build", "--quiet", "--locked", "--manifest-path", manifest, "--example", "parrot"];
    let status = std::process::Command::new(env!("CARGO")).args(build).status().unwrap();
    assert!(status.success(), "the server for tests does not build");
    let folder = std::env::current_exe().unwrap();
    folder.ancestors().nth(2).unwrap().join("examples/parrot")
}

pub(crate) fn upstream(name: &str, prefix: &str, reach: Reach, sharing: Sharing) -> Arc<Upstream> {
    let config = UpstreamConfig {
        name: name.into(),
        reach,
        is_required: true,
        prefix: prefix.into(),
        sharing,
        processes: Processes::default(),
    };
    let upstream = Upstream::new(config, None).unwrap();
    upstream.start().unwrap();
    Arc::new(upstream)
}

pub(crate) fn engine(upstreams: Vec<Arc<Upstream>>) -> Arc<Engine> {
    ruled(upstreams, Rules::default())
}

/// An engine with rules for its tools.
pub(crate) fn ruled(upstreams: Vec<Arc<Upstream>>, rules: Rules) -> Arc<Engine> {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock), Duration::from_secs(60)));
    let desk = Arc::new(Desk::new(store, Arc::new(rules), Arc::new(Nobody)));
    Engine::new(upstreams, desk, Arc::new(Nobody))
}

/// A guard that listens, until the test is over.
pub(crate) async fn listening(engine: Arc<Engine>, options: Options) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(listen::http(engine, listener, options, std::future::pending()));
    address
}

pub(crate) async fn over_parrot(sharing: Sharing) -> SocketAddr {
    listening(engine(vec![upstream("parrot", "", parrot(), sharing)]), Options::default()).await
}

/// A client on stdio.
pub(crate) struct Pipe {
    pub(crate) input: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Pipe {
    pub(crate) fn to(engine: Arc<Engine>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(listen::stdio(engine, input, output, std::future::pending()));
        let (output, input) = tokio::io::split(ours);
        Self { input, lines: BufReader::new(output).lines() }
    }

    pub(crate) async fn say(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("something is said").unwrap();
        serde_json::from_str(&line.expect("the guard is there")).unwrap()
    }

    /// Waits for the answer to a request, and gives back what came before it.
    pub(crate) async fn until(&mut self, id: &Value) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.hear().await;
            if message.get("method").is_none() && message["id"] == *id {
                return (before, message);
            }
            before.push(message);
        }
    }

    pub(crate) async fn begin(&mut self, capabilities: &str) {
        self.say(&hello("2025-11-25", capabilities)).await;
        self.until(&0.into()).await;
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
}

pub(crate) fn hello(version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
    )
}

pub(crate) fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// What a tool's text says.
pub(crate) fn text(message: &Value) -> String {
    message
        .pointer("/result/content/0/text")
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{message}"))
        .to_owned()
}

/// What came back over HTTP.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.json().pointer("/error/code").and_then(Value::as_i64).unwrap_or_else(|| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    }

    /// The messages of a stream of events.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

/// Sends bytes and reads until the guard closes.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Got {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Whoever is refused early may be cut off while it still writes.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("the guard closes");
    let all = String::from_utf8_lossy(&all).into_owned();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Got { status, head: head.to_owned(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size.min(rest.len())]);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

pub(crate) async fn post(address: SocketAddr, headers: &str, body: &str) -> Got {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    raw(address, request.as_bytes()).await
}

/// Opens a session and returns the header that names it.
pub(crate) async fn session(address: SocketAddr) -> String {
    let got = post(address, "", &hello("2025-11-25", "{}")).await;
    let header = format!("mcp-session-id: {}\r\n", got.header("mcp-session-id").unwrap());
    let told = post(address, &header, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(told.status, 202);
    header
}

/// What each request of a client without a handshake states.
pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A request of such a client. `params` end with a comma, if there are any.
pub(crate) async fn stateless(
    address: SocketAddr,
    method: &str,
    name: Option<&str>,
    params: &str,
    headers: &str,
) -> Got {
    let name = name.map_or_else(String::new, |name| format!("mcp-name: {name}\r\n"));
    let headers = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}{headers}");
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}"#);
    post(address, &headers, &body).await
}

/// Waits until nothing is left of an upstream but the process that everybody shares.
pub(crate) async fn stopped(upstream: &Upstream) {
    let gone = async {
        for process in upstream.own_processes() {
            process.ended().await;
        }
    };
    timeout(PATIENCE, gone).await.expect("its processes end");
}

/// The stream that belongs to no request.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    pub(crate) async fn open(address: SocketAddr, session: &str, headers: &str) -> Self {
        Self::try_open(address, session, headers).await.expect("the guard opens a stream")
    }

    /// The same, where the session may be over by now: what the guard said instead.
    pub(crate) async fn try_open(address: SocketAddr, session: &str, headers: &str) -> Result<Self, String> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n{session}{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut status = String::new();
        timeout(PATIENCE, stream.read_line(&mut status)).await.unwrap().unwrap();
        if status.contains("200") { Ok(Self(stream)) } else { Err(status) }
    }

    /// The next event: its id and its message.
    pub(crate) async fn next(&mut self) -> (String, Value) {
        let mut id = String::new();
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("an event comes").unwrap();
            assert!(read > 0, "the stream ended");
            if let Some(rest) = line.strip_prefix("id: ") {
                id = rest.trim().to_owned();
            } else if let Some(message) =
                line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok())
            {
                return (id, message);
            }
        }
    }
}

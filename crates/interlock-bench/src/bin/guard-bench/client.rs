//! A client of Streamable HTTP that costs next to nothing: one connection, one request at a time, no more of HTTP than servers use.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A connection with a session, if the server gives one.
pub(crate) struct Client {
    stream: TcpStream,
    address: SocketAddr,
    path: String,
    session: String,
    /// What was read and not used yet.
    read: Vec<u8>,
    number: u64,
}

/// What came back.
struct Response {
    status: u16,
    session: Option<String>,
    body: Vec<u8>,
}

impl Client {
    /// Connects and shakes hands.
    pub(crate) async fn connect(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("http://").with_context(|| format!("{url} is no address"))?;
        let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address: SocketAddr = address.parse().with_context(|| format!("{url} is no address"))?;
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut client = Self {
            stream,
            address,
            path: path.to_owned(),
            session: String::new(),
            read: Vec::new(),
            number: 0,
        };
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let response = client.post(hello).await?;
        ensure!(response.status == 200, "{url} answered {}: {}", response.status, lossy(&response.body));
        if let Some(session) = response.session {
            client.session = format!("mcp-session-id: {session}\r\n");
        }
        client.session.push_str("mcp-protocol-version: 2025-06-18\r\n");
        client.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(client)
    }

    /// Another connection of the same session. Its calls have numbers of their own.
    pub(crate) async fn beside(&self) -> Result<Self> {
        static BESIDE: AtomicU64 = AtomicU64::new(1);
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let number = BESIDE.fetch_add(1, Ordering::Relaxed) << 32;
        let (path, session) = (self.path.clone(), self.session.clone());
        Ok(Self { stream, address: self.address, path, session, read: Vec::new(), number })
    }

    /// Ends the session.
    pub(crate) async fn leave(mut self) -> Result<()> {
        let response = self.send("DELETE", "").await?;
        ensure!(response.status == 200, "the session was not ended: {}", response.status);
        Ok(())
    }

    /// Calls the echo under this name with these arguments, and checks that it answered.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &str) -> Result<()> {
        self.number += 1;
        let id = self.number;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        let response = self.post(&body).await?;
        let text = lossy(&response.body);
        if response.status != 200 || !text.contains("\"content\"") || text.contains("\"isError\":true") {
            bail!("the call was answered with {}: {text}", response.status);
        }
        Ok(())
    }

    async fn post(&mut self, body: &str) -> Result<Response> {
        self.send("POST", body).await
    }

    async fn send(&mut self, method: &str, body: &str) -> Result<Response> {
        let Self { address, path, session, .. } = self;
        let request = format!(
            "{method} /{path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        let head = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break self.read.drain(..end + 4).collect::<Vec<u8>>();
            }
            self.more().await?;
        };
        let head = lossy(&head).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
        let field = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
        };
        let body = match field("content-length") {
            Some(length) => self.exactly(length.parse().context("a length is a number")?).await?,
            None if field("transfer-encoding") == Some("chunked") => self.chunks().await?,
            None => Vec::new(),
        };
        let session = field("mcp-session-id").map(str::to_owned);
        Ok(Response { status, session, body })
    }

    async fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(end) = find(&self.read, b"\r\n") {
                    break self.read.drain(..end + 2).collect::<Vec<u8>>();
                }
                self.more().await?;
            };
            let length = usize::from_str_radix(lossy(&line).trim(), 16).context("a chunk has a length")?;
            let chunk = self.exactly(length + 2).await?;
            if length == 0 {
                return Ok(body);
            }
            body.extend(chunk.iter().take(length));
        }
    }

    async fn exactly(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.read.len() < length {
            self.more().await?;
        }
        Ok(self.read.drain(..length).collect())
    }

    async fn more(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.read).await?;
        ensure!(read > 0, "the server hung up");
        Ok(())
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

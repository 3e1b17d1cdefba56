//! A server behind a URL: Streamable HTTP, on connections that are open before the requests leave.

mod address;
mod body;
mod conn;
mod head;
mod streams;
mod wire;

use std::{collections::BTreeMap, time::Duration};

use interlock_model::{Delivery, Schedule};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant as Tokio, sleep_until, timeout},
};

pub use self::address::{Address, InvalidAddress};
use self::{conn::Conn, head::Head};
use super::{Exchange, protocol::wants_headers, silence};
use crate::{
    clock::Instant,
    connect::{Reply, Request},
    trouble::Trouble,
};

/// One session with a server.
pub(crate) struct Http {
    address: Address,
    /// Headers that the user asked for.
    extra: BTreeMap<String, String>,
    session: Option<String>,
    version: Option<String>,
    /// For requests that are waited for one by one.
    main: Option<Conn>,
}

/// Between all but the last byte and the last: long enough for a server on the same machine to have read the rest.
const BEFORE_THE_LAST_BYTE: Duration = Duration::from_millis(5);

impl Http {
    pub(crate) fn new(address: Address, extra: BTreeMap<String, String>) -> Self {
        Self { address, extra, session: None, version: None, main: None }
    }

    pub(super) fn speak(&mut self, version: &str) {
        self.version = Some(version.to_owned());
    }

    pub(super) async fn ask(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> Result<(Instant, Reply), Trouble> {
        let bytes = self.encode(request);
        let mut conn = self.connection().await?;
        let work = async {
            conn.send(&bytes).await?;
            conn.receive(Some(request.id)).await
        };
        let got = timeout(patience, work).await.map_err(|_| Trouble::Silent(patience))??;
        if let Some(session) = got.session {
            self.session = Some(session);
        }
        if conn.reusable() {
            self.main = Some(conn);
        }
        got.answer.ok_or_else(|| Trouble::Unreadable("the answer has no reply in it".into()))
    }

    pub(super) async fn tell(&mut self, method: &str, patience: Duration) -> Result<(), Trouble> {
        let body = json!({ "jsonrpc": "2.0", "method": method }).to_string();
        let bytes = self.head(method, None).encode(&body);
        let mut conn = self.connection().await?;
        let work = async {
            conn.send(&bytes).await?;
            conn.receive(None).await
        };
        timeout(patience, work).await.map_err(|_| Trouble::Silent(patience))??;
        if conn.reusable() {
            self.main = Some(conn);
        }
        Ok(())
    }

    pub(super) async fn together(
        &mut self,
        requests: &[Request],
        schedule: &Schedule,
        patience: Duration,
    ) -> Result<Vec<Exchange>, Trouble> {
        match schedule.delivery {
            Delivery::OneWrite => self.pipelined(requests, patience).await,
            Delivery::Connections => self.side_by_side(requests, schedule, 0, patience).await,
            Delivery::LastBytes => self.side_by_side(requests, schedule, 1, patience).await,
            Delivery::Http2 => {
                let heads: Vec<(Head, String)> = requests.iter().map(|request| self.parts(request)).collect();
                streams::together(&self.address, requests, heads, patience).await
            }
        }
    }

    /// All requests behind each other on one connection, in one write.
    async fn pipelined(
        &mut self,
        requests: &[Request],
        patience: Duration,
    ) -> Result<Vec<Exchange>, Trouble> {
        let bytes: Vec<u8> = requests.iter().flat_map(|request| self.encode(request)).collect();
        let mut conn = Conn::open(&self.address).await?;
        let sent = Instant::now();
        conn.send(&bytes).await?;
        let until = Tokio::now() + patience;
        let mut exchanges = Vec::new();
        for request in requests {
            let left = until.saturating_duration_since(Tokio::now());
            let answer = match timeout(left, conn.receive(Some(request.id))).await {
                Err(_) => Err(silence(patience)),
                Ok(Err(Trouble::Io(error))) => Err(error.to_string()),
                Ok(Err(trouble)) => return Err(trouble),
                Ok(Ok(got)) => got.answer.ok_or_else(|| "the answer has no reply in it".to_owned()),
            };
            exchanges.push(Exchange { sent, answer });
        }
        Ok(exchanges)
    }

    /// A connection for each; the last `held` bytes of each request leave together.
    async fn side_by_side(
        &mut self,
        requests: &[Request],
        schedule: &Schedule,
        held: usize,
        patience: Duration,
    ) -> Result<Vec<Exchange>, Trouble> {
        let mut ready = Vec::new();
        for request in requests {
            let bytes = self.encode(request);
            let mut conn = Conn::open(&self.address).await?;
            let (first, last) = bytes.split_at(bytes.len().saturating_sub(held));
            let last = if held == 0 {
                first.to_vec()
            } else {
                conn.send(first).await?;
                last.to_vec()
            };
            ready.push((conn, last, request.id));
        }
        if held > 0 {
            tokio::time::sleep(BEFORE_THE_LAST_BYTE).await;
        }
        let begin = Tokio::now();
        let mut tasks = JoinSet::new();
        for (index, (mut conn, bytes, id)) in ready.into_iter().enumerate() {
            let offset = schedule.offsets.get(index).copied().unwrap_or_default();
            // Without an offset it leaves here, in this loop, so that no task has to be woken in between.
            let sent = if offset.is_zero() {
                let sent = Instant::now();
                conn.send(&bytes).await?;
                Some(sent)
            } else {
                None
            };
            tasks.spawn(async move {
                let sent = match sent {
                    Some(sent) => sent,
                    None => {
                        sleep_until(begin + offset).await;
                        let sent = Instant::now();
                        if let Err(trouble) = conn.send(&bytes).await {
                            return (index, Exchange { sent, answer: Err(trouble.to_string()) });
                        }
                        sent
                    }
                };
                let answer = match timeout(patience, conn.receive(Some(id))).await {
                    Err(_) => Err(silence(patience)),
                    Ok(Err(trouble)) => Err(trouble.to_string()),
                    Ok(Ok(got)) => got.answer.ok_or_else(|| "the answer has no reply in it".to_owned()),
                };
                (index, Exchange { sent, answer })
            });
        }
        let mut exchanges: Vec<(usize, Exchange)> = Vec::new();
        while let Some(done) = tasks.join_next().await {
            exchanges.push(done.map_err(|error| Trouble::Unreadable(error.to_string()))?);
        }
        exchanges.sort_by_key(|(index, _)| *index);
        Ok(exchanges.into_iter().map(|(_, exchange)| exchange).collect())
    }

    async fn connection(&mut self) -> Result<Conn, Trouble> {
        if let Some(mut conn) = self.main.take()
            && conn.alive()
        {
            return Ok(conn);
        }
        Conn::open(&self.address).await
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        let (head, body) = self.parts(request);
        head.encode(&body)
    }

    fn parts(&self, request: &Request) -> (Head, String) {
        let name = request.params.get("name").and_then(serde_json::Value::as_str);
        (self.head(&request.method, name), request.to_value().to_string())
    }

    fn head(&self, method: &str, name: Option<&str>) -> Head {
        let mut head = Head::new(&self.address);
        for (key, value) in &self.extra {
            head.add(key, value);
        }
        if let Some(session) = &self.session {
            head.add("Mcp-Session-Id", session);
        }
        if let Some(version) = &self.version {
            head.add("MCP-Protocol-Version", version);
            if wants_headers(version) {
                head.add("Mcp-Method", method);
                if let Some(name) = name {
                    head.add("Mcp-Name", name);
                }
            }
        }
        head
    }
}

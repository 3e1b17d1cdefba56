//! One connection: requests go out as bytes, answers come in one after another.

use futures_util::FutureExt;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    Address,
    body::{self, Length},
    wire::{self, Wire},
};
use crate::{
    clock::Instant,
    connect::{Incoming, LONGEST, Reply, message::sort},
    trouble::Trouble,
};

pub(super) struct Conn {
    stream: Box<dyn Wire>,
    /// Read and not yet used.
    rest: Vec<u8>,
    closed: bool,
}

/// What one answer brought.
#[derive(Default)]
pub(super) struct Received {
    pub(super) answer: Option<(Instant, Reply)>,
    pub(super) session: Option<String>,
}

const LONGEST_HEAD: usize = 64 << 10;

impl Conn {
    pub(super) async fn open(address: &Address) -> Result<Self, Trouble> {
        let stream = wire::open(address, wire::HTTP1).await?;
        Ok(Self { stream, rest: Vec::new(), closed: false })
    }

    pub(super) fn reusable(&self) -> bool {
        !self.closed
    }

    /// Whether the other side has not gone since it was last used.
    pub(super) fn alive(&mut self) -> bool {
        let mut byte = [0];
        let quiet = self.stream.read(&mut byte).now_or_never().is_none();
        quiet && !self.closed
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.stream.write_all(bytes).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads one whole answer; with an id, what in it is the reply to that request.
    pub(super) async fn receive(&mut self, id: Option<i64>) -> Result<Received, Trouble> {
        let head = self.head().await?;
        let mut received = Received { session: head.session.clone(), answer: None };
        let mut length = head.length;
        let (mut body, mut seen) = (Vec::new(), 0);
        loop {
            let complete =
                body::advance(&mut length, &mut self.rest, &mut body).map_err(Trouble::Unreadable)?;
            if head.events {
                seen += body.len();
                for event in body::events(&mut body) {
                    keep(&mut received, id, event.as_bytes());
                }
                seen = seen.saturating_sub(body.len());
            }
            if complete {
                break;
            }
            if body.len().max(seen) > LONGEST || self.rest.len() > LONGEST {
                return Err(Trouble::TooLong);
            }
            if !self.fill().await? {
                self.closed = true;
                if length == Length::UntilClosed {
                    break;
                }
                return Err(Trouble::Io(std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
        self.closed |= head.close;
        if !head.events {
            keep(&mut received, id, &body);
        }
        let refused = !(200..300).contains(&head.status);
        if refused && received.answer.is_none() {
            let text = String::from_utf8_lossy(&body).chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(Trouble::Status(head.status, text));
        }
        Ok(received)
    }

    async fn head(&mut self) -> Result<ResponseHead, Trouble> {
        loop {
            if let Some((head, used)) = parse(&self.rest)? {
                self.rest.drain(..used);
                // 100 Continue and its like are followed by the real one.
                if head.status < 200 {
                    continue;
                }
                return Ok(head);
            }
            if self.rest.len() > LONGEST_HEAD {
                return Err(Trouble::Unreadable("its head does not end".into()));
            }
            if !self.fill().await? {
                self.closed = true;
                return Err(Trouble::Io(std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    async fn fill(&mut self) -> Result<bool, Trouble> {
        Ok(self.stream.read_buf(&mut self.rest).await? > 0)
    }
}

struct ResponseHead {
    status: u16,
    length: Length,
    events: bool,
    close: bool,
    session: Option<String>,
}

fn parse(bytes: &[u8]) -> Result<Option<(ResponseHead, usize)>, Trouble> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut response = httparse::Response::new(&mut headers);
    let parsed =
        response.parse(bytes).map_err(|error| Trouble::Unreadable(format!("it is not HTTP: {error}")))?;
    let httparse::Status::Complete(used) = parsed else { return Ok(None) };
    let find = |name: &str| {
        let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let status = response.code.unwrap_or_default();
    let chunked =
        find("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
    let counted = find("content-length").and_then(|value| value.trim().parse().ok());
    let length = match counted {
        _ if matches!(status, 100..200 | 204 | 304) => Length::Exactly(0),
        _ if chunked => Length::Chunked,
        Some(length) => Length::Exactly(length),
        None => Length::UntilClosed,
    };
    let head = ResponseHead {
        status,
        length,
        events: find("content-type").is_some_and(|value| value.starts_with("text/event-stream")),
        close: find("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")),
        session: find("mcp-session-id"),
    };
    Ok(Some((head, used)))
}

/// Takes the reply to a request out of one message, or out of several in a list.
fn keep(received: &mut Received, id: Option<i64>, bytes: &[u8]) {
    let at = Instant::now();
    let messages = match serde_json::from_slice(bytes) {
        Ok(Value::Array(messages)) => messages,
        Ok(message) => vec![message],
        Err(_) => return,
    };
    for message in messages {
        match sort(message) {
            Incoming::Reply(found, reply) if Some(found) == id => received.answer = Some((at, reply)),
            // A refusal of the transport names no request; there is only one on this connection.
            Incoming::Other | Incoming::Junk(..) | Incoming::Reply(..) | Incoming::Question(..) => {}
        }
    }
}

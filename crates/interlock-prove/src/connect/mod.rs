//! Talking to one instance of a server: frames in, frames out, with the time of each.
//!
//! This is no client library: answers are kept as they came, and requests leave as the bytes that were prepared, because when
//! they leave is what everything here is about.

mod http;
mod message;
mod protocol;
mod stdio;

use std::time::Duration;

use interlock_model::{Delivery, PlannedCall, Schedule};
use serde_json::Value;

pub use self::http::{Address, InvalidAddress};
pub(crate) use self::{
    http::Http,
    message::{Incoming, Reply, Request},
    stdio::Stdio,
};
use crate::{clock::Instant, trouble::Trouble};

/// A connection that has shaken hands, or needs none.
pub(crate) struct Connection {
    wire: Wire,
    style: protocol::Style,
    next: i64,
}

pub(crate) enum Wire {
    Stdio(Stdio),
    Http(Box<Http>),
}

/// A request and its answer, in time.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// The moment before the last byte of the request was handed over: the server cannot have had all of it earlier.
    pub(crate) sent: Instant,
    /// The answer and when it was complete, or why there is none.
    pub(crate) answer: Result<(Instant, Reply), String>,
}

/// Longer answers are refused: nobody can compare them.
pub(crate) const LONGEST: usize = 32 << 20;

impl Connection {
    /// Shakes hands in the style that the server understands.
    pub(crate) async fn open(mut wire: Wire, patience: Duration) -> Result<Self, Trouble> {
        let style = match protocol::agree(&mut wire, patience).await {
            Ok(style) => style,
            Err(trouble) => return Err(wire.blamed(trouble)),
        };
        // Ids begin elsewhere in every run, so that a server that repeats them in its answers is seen to vary in that.
        let first = i64::try_from(Instant::now().0 % 900_000).unwrap_or_default() + protocol::FIRST_FREE_ID;
        Ok(Self { wire, style, next: first })
    }

    /// The tools of the server, all pages of them.
    pub(crate) async fn tools(&mut self, patience: Duration) -> Result<Vec<Value>, Trouble> {
        const MOST_PAGES: usize = 50;
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params =
                cursor.map_or_else(|| serde_json::json!({}), |c: Value| serde_json::json!({ "cursor": c }));
            let request = self.request("tools/list", params);
            let (_, reply) = self.wire.ask(&request, patience).await?;
            let Reply::Result(mut page) = reply else {
                return Err(Trouble::Refused("tools/list".into(), reply.text()));
            };
            if let Some(Value::Array(page)) = page.get_mut("tools").map(Value::take) {
                tools.extend(page);
            }
            match page.get_mut("nextCursor").map(Value::take) {
                Some(next) if !next.is_null() => cursor = Some(next),
                _ => break,
            }
        }
        Ok(tools)
    }

    /// One call, waited for.
    pub(crate) async fn call(&mut self, call: &PlannedCall, patience: Duration) -> Result<Exchange, Trouble> {
        let request = self.prepare(call);
        let sent = Instant::now();
        match self.wire.ask(&request, patience).await {
            Ok(answer) => Ok(Exchange { sent, answer: Ok(answer) }),
            Err(Trouble::Silent(_)) => Ok(Exchange { sent, answer: Err(silence(patience)) }),
            Err(trouble) => Err(trouble),
        }
    }

    /// Gets the requests of calls ready, so that their ids are known before they leave.
    pub(crate) fn prepare(&mut self, call: &PlannedCall) -> Request {
        let mut params = serde_json::json!({ "name": call.tool });
        if let Some(fields) = params.as_object_mut() {
            if !call.arguments.is_null() {
                fields.insert("arguments".into(), call.arguments.clone());
            }
            if !call.meta.is_null() {
                fields.insert("_meta".into(), call.meta.clone());
            }
        }
        self.request("tools/call", params)
    }

    fn request(&mut self, method: &str, params: Value) -> Request {
        let id = self.next;
        self.next += 1;
        self.style.dress(Request { id, method: method.to_owned(), params })
    }

    /// Sends all requests as the schedule says and collects the answers. One exchange for each request, in their order.
    pub(crate) async fn together(
        &mut self,
        requests: &[Request],
        schedule: &Schedule,
        patience: Duration,
    ) -> Result<Vec<Exchange>, Trouble> {
        match &mut self.wire {
            Wire::Stdio(stdio) => stdio.together(requests, &schedule.offsets, patience).await,
            Wire::Http(http) => http.together(requests, schedule, patience).await,
        }
    }

    /// Closes our side, as a client does that leaves.
    pub(crate) fn leave(&mut self) {
        if let Wire::Stdio(stdio) = &mut self.wire {
            stdio.leave();
        }
    }

    /// Takes in answers that come after all, until the server has no more to say.
    pub(crate) async fn late(
        &mut self,
        requests: &[Request],
        exchanges: &mut [Exchange],
        patience: Duration,
    ) {
        if let Wire::Stdio(stdio) = &mut self.wire {
            stdio.late(requests, exchanges, patience).await;
        }
    }

    /// The deliveries that this connection can do, the simplest first.
    pub(crate) fn deliveries(&self) -> &'static [Delivery] {
        match self.wire {
            Wire::Stdio(_) => &[Delivery::OneWrite],
            Wire::Http(_) => {
                &[Delivery::Connections, Delivery::LastBytes, Delivery::OneWrite, Delivery::Http2]
            }
        }
    }

    /// What the server did that no server should, such as answering twice.
    pub(crate) fn oddities(&self) -> &[String] {
        match &self.wire {
            Wire::Stdio(stdio) => stdio.oddities(),
            Wire::Http(_) => &[],
        }
    }
}

impl Wire {
    /// A server that does not answer, and prints something else, is most likely no MCP server, or logs where its answers should be.
    fn blamed(&self, trouble: Trouble) -> Trouble {
        let junk = match self {
            Self::Stdio(stdio) => stdio.junk(),
            Self::Http(_) => None,
        };
        match (junk, trouble) {
            (Some(line), Trouble::Silent(patience)) => Trouble::Junk(
                line.to_owned(),
                format!("it did not answer within {} s", patience.as_secs_f32()),
            ),
            (Some(line), Trouble::Ended(_)) => Trouble::Junk(line.to_owned(), "it ended".into()),
            (_, trouble) => trouble,
        }
    }

    /// One request, waited for.
    pub(crate) async fn ask(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> Result<(Instant, Reply), Trouble> {
        match self {
            Self::Stdio(stdio) => stdio.ask(request, patience).await,
            Self::Http(http) => http.ask(request, patience).await,
        }
    }

    /// A notification.
    pub(crate) async fn tell(&mut self, method: &str, patience: Duration) -> Result<(), Trouble> {
        match self {
            Self::Stdio(stdio) => stdio.tell(method).await,
            Self::Http(http) => http.tell(method, patience).await,
        }
    }
}

/// How a missing answer is worded.
pub(crate) fn silence(patience: Duration) -> String {
    format!("no answer within {} s, --timeout waits longer", patience.as_secs_f32())
}

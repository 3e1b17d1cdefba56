//! A JSON-RPC message: its bytes, and where in them stands what the guard looks at.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    fault::Fault,
    id::Id,
    scan::{Scanner, Span, unescaped},
    splice::wide,
};

/// A message and the places of its parts.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    bytes: Bytes,
    kind: Kind,
    id: Option<Span>,
    method: Option<Span>,
    params: Option<Span>,
    result: Option<Span>,
    error: Option<Span>,
    parts: Parts,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wants an answer.
    Request,
    /// Wants none.
    Notification,
    /// Is one.
    Response,
}

/// What came in at once.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box would be an allocation for each message"
)]
pub(crate) enum Incoming {
    /// A message.
    One(Message),
    /// Several, which the revision of 2025-03-26 allows.
    Batch(Vec<Message>),
}

/// Members of `params` and `result`, and of the `_meta` in them. Values with their quotes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) name: Option<Span>,
    pub(crate) arguments: Option<Span>,
    pub(crate) uri: Option<Span>,
    pub(crate) cursor: Option<Span>,
    pub(crate) request_id: Option<Span>,
    pub(crate) task_id: Option<Span>,
    pub(crate) protocol_version: Option<Span>,
    pub(crate) meta: Option<Span>,
    pub(crate) progress_token: Option<Span>,
    /// The token that a notification about progress is about.
    pub(crate) about_token: Option<Span>,
    pub(crate) fence: Option<Span>,
    pub(crate) traceparent: Option<Span>,
    pub(crate) stated_version: Option<Span>,
    pub(crate) client_capabilities: Option<Span>,
    pub(crate) log_level: Option<Span>,
    pub(crate) subscription: Option<Span>,
    pub(crate) is_error: Option<Span>,
    pub(crate) result_type: Option<Span>,
    pub(crate) task: Option<Span>,
    pub(crate) ttl: Option<Span>,
    pub(crate) poll: Option<Span>,
}

impl Message {
    /// Reads one message.
    pub(crate) fn read(bytes: Bytes) -> Result<Self, Fault> {
        match Self::incoming(bytes)? {
            Incoming::One(message) => Ok(message),
            Incoming::Batch(_) => Err(Fault::Shape("batches exist in the revision 2025-03-26 only")),
        }
    }

    /// Reads a message or a batch.
    pub(crate) fn incoming(bytes: Bytes) -> Result<Incoming, Fault> {
        std::str::from_utf8(&bytes).map_err(|_| Fault::Encoding)?;
        let mut scanner = Scanner::new(&bytes);
        match scanner.peek() {
            Some(b'{') => Self::parse(&bytes).map(Incoming::One),
            Some(b'[') => {
                let mut spans = Vec::new();
                let mut has_other = false;
                scanner.array(|scanner| {
                    has_other |= scanner.peek() != Some(b'{');
                    spans.push(scanner.value()?);
                    Ok(())
                })?;
                scanner.end()?;
                if spans.is_empty() || has_other {
                    return Err(Fault::Shape("a batch is an array of messages, and has at least one"));
                }
                let parts = spans.into_iter().map(|span| Self::parse(&slice(&bytes, span)));
                Ok(Incoming::Batch(parts.collect::<Result<_, _>>()?))
            }
            _ => {
                scanner.value()?;
                scanner.end()?;
                Err(Fault::Shape("a message is a JSON object"))
            }
        }
    }

    fn parse(bytes: &Bytes) -> Result<Self, Fault> {
        let mut scanner = Scanner::new(bytes);
        let (mut id, mut method, mut params, mut result, mut error) = (None, None, None, None, None);
        let mut parts = Parts::default();
        scanner.object(|scanner, key| {
            let text = key.text();
            let slot = match &*text {
                b"id" => &mut id,
                b"method" => &mut method,
                b"error" => &mut error,
                name @ (b"params" | b"result") => {
                    let is_params = name == b"params";
                    let slot = if is_params { &mut params } else { &mut result };
                    let span = match scanner.peek() {
                        Some(b'{') => parts.members(scanner, is_params)?,
                        _ => scanner.value()?,
                    };
                    return fill(slot, span, &text);
                }
                b"jsonrpc" => return scanner.value().map(drop),
                name => {
                    refuse_alike(name, &ENVELOPE)?;
                    return scanner.value().map(drop);
                }
            };
            let span = scanner.value()?;
            fill(slot, span, &text)
        })?;
        scanner.end()?;
        let kind = match (method, id, result.is_some() || error.is_some()) {
            (Some(_), Some(_), false) => Kind::Request,
            (Some(_), None, false) => Kind::Notification,
            (None, Some(_), true) if result.is_none() || error.is_none() => Kind::Response,
            (Some(_), _, true) => return Err(Fault::Shape("a message has either a method or an outcome")),
            _ => return Err(Fault::Shape("a message has a method, or an id and an outcome")),
        };
        let message = Self { bytes: bytes.clone(), kind, id, method, params, result, error, parts };
        if method.is_some_and(|span| message.text(span).is_none()) {
            return Err(Fault::Shape("the method is a string"));
        }
        if kind == Kind::Request && message.id_key().is_none() {
            return Err(Fault::Shape("the id of a request is a string or an integer"));
        }
        Ok(message)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The id as it is written.
    pub(crate) fn id(&self) -> Bytes {
        self.id.map(|span| self.raw(span)).unwrap_or_default()
    }

    pub(crate) fn id_span(&self) -> Option<Span> {
        self.id
    }

    /// The id as something to compare.
    pub(crate) fn id_key(&self) -> Option<Id> {
        Id::read(&self.raw(self.id?))
    }

    /// The method; empty in an answer.
    pub(crate) fn method(&self) -> Cow<'_, str> {
        self.method.and_then(|span| self.text(span)).unwrap_or_default()
    }

    pub(crate) fn params(&self) -> Option<Span> {
        self.params
    }

    pub(crate) fn result(&self) -> Option<Bytes> {
        self.result.map(|span| self.raw(span))
    }

    pub(crate) fn result_span(&self) -> Option<Span> {
        self.result
    }

    pub(crate) fn error(&self) -> Option<Bytes> {
        self.error.map(|span| self.raw(span))
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// A part as it is written.
    pub(crate) fn raw(&self, span: Span) -> Bytes {
        slice(&self.bytes, span)
    }

    /// What a string says; `None` if the part is no string, or one that has no text.
    pub(crate) fn text(&self, span: Span) -> Option<Cow<'_, str>> {
        let raw = self.bytes.get(wide(span.start)..wide(span.end))?;
        let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if inner.contains(&b'\\') {
            return unescaped(inner).map(Cow::Owned);
        }
        std::str::from_utf8(inner).ok().map(Cow::Borrowed)
    }

    /// The tool or prompt that is asked for.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        self.text(self.parts.name?)
    }

    /// The revision that `_meta` states.
    pub(crate) fn stated_version(&self) -> Option<Cow<'_, str>> {
        self.text(self.parts.stated_version?)
    }
}

impl Parts {
    /// Goes over the members of `params` or `result`.
    fn members(&mut self, scanner: &mut Scanner<'_>, is_params: bool) -> Result<Span, Fault> {
        scanner.object(|scanner, key| {
            let text = key.text();
            let slot = match (&*text, is_params) {
                (b"name", true) => &mut self.name,
                (b"arguments", true) => &mut self.arguments,
                (b"uri", true) => &mut self.uri,
                (b"cursor", true) => &mut self.cursor,
                (b"requestId", true) => &mut self.request_id,
                (b"protocolVersion", true) => &mut self.protocol_version,
                (b"progressToken", true) => &mut self.about_token,
                (b"isError", false) => &mut self.is_error,
                (b"resultType", false) => &mut self.result_type,
                (b"task", false) => &mut self.task,
                (b"ttlMs", false) => &mut self.ttl,
                (b"pollIntervalMs", false) => &mut self.poll,
                (b"taskId", _) => &mut self.task_id,
                (b"_meta", _) => {
                    let span = match scanner.peek() {
                        Some(b'{') => self.meta(scanner)?,
                        _ => scanner.value()?,
                    };
                    return fill(&mut self.meta, span, &text);
                }
                (name, _) => {
                    if is_params {
                        refuse_alike(name, &PARAMS)?;
                    }
                    return scanner.value().map(drop);
                }
            };
            let span = scanner.value()?;
            fill(slot, span, &text)
        })
    }

    fn meta(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, Fault> {
        scanner.object(|scanner, key| {
            let text = key.text();
            let slot = match &*text {
                b"progressToken" => &mut self.progress_token,
                b"dev.interlock/fence" => &mut self.fence,
                b"traceparent" => &mut self.traceparent,
                b"io.modelcontextprotocol/protocolVersion" => &mut self.stated_version,
                b"io.modelcontextprotocol/clientCapabilities" => &mut self.client_capabilities,
                b"io.modelcontextprotocol/logLevel" => &mut self.log_level,
                b"io.modelcontextprotocol/subscriptionId" => &mut self.subscription,
                _ => {
                    scanner.value()?;
                    return Ok(());
                }
            };
            let span = scanner.value()?;
            fill(slot, span, &text)
        })
    }
}

/// The members of a message by which it is decided what it is and where it goes.
const ENVELOPE: [&[u8]; 6] = [b"jsonrpc", b"id", b"method", b"params", b"result", b"error"];
/// Those of `params` by which it is decided over a request.
const PARAMS: [&[u8]; 6] = [b"name", b"arguments", b"uri", b"taskId", b"requestId", b"_meta"];

/// Refuses a member that only some readers tell from one that decides: Go's takes names without regard to case, and then the last one counts.
fn refuse_alike(name: &[u8], decisive: &[&[u8]]) -> Result<(), Fault> {
    match decisive.iter().any(|known| is_alike(name, known)) {
        true => Err(Fault::Alike(String::from_utf8_lossy(name).into_owned())),
        false => Ok(()),
    }
}

/// Whether two names are the same but for case. Two letters outside of ASCII fold into it: the long s and the sign of the kelvin.
pub(crate) fn is_alike(name: &[u8], other: &[u8]) -> bool {
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(other);
    }
    let folded = |text: &[u8]| {
        let plain = String::from_utf8_lossy(text).replace('\u{17f}', "s").replace('\u{212a}', "k");
        plain.to_ascii_lowercase()
    };
    folded(name) == folded(other)
}

fn fill(slot: &mut Option<Span>, span: Span, name: &[u8]) -> Result<(), Fault> {
    if slot.replace(span).is_some() {
        return Err(Fault::Twice(String::from_utf8_lossy(name).into_owned()));
    }
    Ok(())
}

fn slice(bytes: &Bytes, span: Span) -> Bytes {
    bytes.slice(wide(span.start).min(bytes.len())..wide(span.end).min(bytes.len()))
}

//! A request on its way to an upstream: the client's bytes, with those parts replaced that mean something else there.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use interlock_sync::store::Fence;

use super::pending::About;
use crate::{
    message::{Edit, Message, Scanner, Span, quoted, splice},
    session::Outbox,
    traceparent::Traceparent,
};
use std::{borrow::Cow, sync::Arc};

/// A message and what is changed in it.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    /// As it came.
    pub(crate) message: Message,
    /// The name of the tool or prompt without the upstream's prefix, where it had one.
    pub(crate) name: Option<String>,
    /// What the call holds.
    pub(crate) fence: Option<Fence>,
    /// The trace context that takes the place of the client's, if the guard records the call.
    pub(crate) traceparent: Option<Traceparent>,
    /// Members for `_meta`, as JSON text without braces; empty for none.
    pub(crate) meta: Cow<'static, str>,
    /// Other parts that are replaced.
    pub(crate) edits: Vec<(Span, Vec<u8>)>,
    /// Headers of the client that concern the server.
    pub(crate) headers: Arc<[(HeaderName, HeaderValue)]>,
    /// Whether this takes part in a handshake and therefore states no revision of its own.
    pub(crate) is_greeting: bool,
    /// Whether the server is older than what the message states, and is not told.
    pub(crate) is_bridged: bool,
}

/// The members of `_meta` that stand for a handshake.
const STATEMENTS: [&[u8]; 4] = [
    b"io.modelcontextprotocol/protocolVersion",
    b"io.modelcontextprotocol/clientInfo",
    b"io.modelcontextprotocol/clientCapabilities",
    b"io.modelcontextprotocol/logLevel",
];

impl Parcel {
    /// A message that is changed in nothing but its id.
    pub(crate) fn new(message: Message) -> Self {
        Self {
            message,
            name: None,
            fence: None,
            traceparent: None,
            meta: Cow::Borrowed(""),
            edits: Vec::new(),
            headers: Arc::default(),
            is_greeting: false,
            is_bridged: false,
        }
    }

    /// The bytes for an upstream that knows the request by this number.
    pub(crate) fn addressed(&self, number: u64) -> Bytes {
        let unstated = self.is_bridged.then(|| self.unstated()).flatten();
        let message = unstated.as_ref().unwrap_or(&self.message);
        let parts = message.parts();
        let number = number.to_string();
        let mut edits: Vec<Edit<'_>> = Vec::with_capacity(4);
        if let Some(at) = message.id_span() {
            edits.push(Edit::new(at, number.as_bytes()));
        }
        if let Some(at) = parts.progress_token {
            edits.push(Edit::new(at, number.as_bytes()));
        }
        if let (Some(at), Some(name)) = (parts.name, &self.name) {
            edits.push(Edit::new(at, quoted(name).into_bytes()));
        }
        if unstated.is_none() {
            edits.extend(self.own_edits());
        }
        let mut meta = self.meta.clone();
        match (parts.fence, self.fence) {
            // Nobody but the guard says what a call holds.
            (Some(at), fence) => edits.push(Edit::new(at, stated(fence).into_bytes())),
            (None, Some(fence)) => {
                let comma = if meta.is_empty() { "" } else { "," };
                meta = ["\"dev.interlock/fence\":", &fence.0.to_string(), comma, &meta].concat().into();
            }
            (None, None) => {}
        }
        match (parts.traceparent, self.traceparent) {
            (Some(at), Some(ours)) => edits.push(Edit::new(at, format!("\"{ours}\"").into_bytes())),
            (None, Some(ours)) => {
                let comma = if meta.is_empty() { "" } else { "," };
                meta = format!("\"traceparent\":\"{ours}\"{comma}{meta}").into();
            }
            (_, None) => {}
        }
        if !meta.is_empty() {
            edits.extend(with_meta(message, &meta));
        }
        splice(message.bytes(), &mut edits)
    }

    fn own_edits(&self) -> impl Iterator<Item = Edit<'_>> {
        self.edits.iter().map(|(at, with)| Edit::new(*at, with.as_slice()))
    }

    /// The message without what only revisions without a handshake state, and with its own edits made. A server that speaks both eras would
    /// take it for one of the other.
    fn unstated(&self) -> Option<Message> {
        let meta = self.message.parts().meta?;
        let raw = self.message.raw(meta);
        let mut kept: Vec<(Bytes, Span)> = Vec::new();
        Scanner::new(&raw)
            .object(|scanner, key| {
                let span = scanner.value()?;
                let name = key.text();
                if !STATEMENTS.contains(&&*name) {
                    kept.push((name.into_owned().into(), span));
                }
                Ok(())
            })
            .ok()?;
        let members = kept.iter().map(|(name, at)| {
            let value = raw.slice(at.start as usize..at.end as usize);
            format!("{}:{}", quoted(&String::from_utf8_lossy(name)), String::from_utf8_lossy(&value))
        });
        let members = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let mut edits: Vec<Edit<'_>> = self.own_edits().collect();
        edits.push(Edit::new(meta, members.into_bytes()));
        Message::read(splice(self.message.bytes(), &mut edits)).ok()
    }

    /// What an upstream may say about it.
    pub(crate) fn about(&self, out: Option<Arc<Outbox>>) -> About {
        About {
            out,
            token: self.message.parts().progress_token.map(|span| self.message.raw(span)),
            id: self.message.id(),
            wants_logs: self.message.parts().log_level.is_some(),
        }
    }
}

/// Where members of `_meta` go in.
fn with_meta(message: &Message, members: &str) -> Option<Edit<'static>> {
    if let Some(meta) = message.parts().meta {
        return inside(message, meta, ["", members, ""]);
    }
    if let Some(params) = message.params() {
        return inside(message, params, ["\"_meta\":{", members, "}"]);
    }
    // Before the id, which is always there.
    let before = message.id_span().map(|id| id.start)?;
    let head = message.bytes().get(..usize::try_from(before).ok()?)?;
    let key = head.windows(4).rposition(|window| window == b"\"id\"")?;
    Some(Edit::after(
        u32::try_from(key).ok()?,
        format!("\"params\":{{\"_meta\":{{{members}}}}},").into_bytes(),
    ))
}

/// Members put in at the start of an object. `None` if it is none.
fn inside(message: &Message, object: Span, members: [&str; 3]) -> Option<Edit<'static>> {
    let raw = message.raw(object);
    let rest = raw.strip_prefix(b"{")?;
    let is_empty = rest.trim_ascii_start().first() == Some(&b'}');
    let comma = if is_empty { "" } else { "," };
    let [before, members, behind] = members;
    Some(Edit::after(object.start + 1, [before, members, behind, comma].concat().into_bytes()))
}

fn stated(fence: Option<Fence>) -> String {
    fence.map_or_else(|| "null".to_owned(), |fence| fence.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(meta: &str, fence: Option<u64>, is_recorded: bool) -> String {
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"t"{meta}}}}}"#);
        let traceparent = is_recorded.then_some(Traceparent { trace: 1, span: 2, flags: 1 });
        let message = Message::read(text.into()).unwrap();
        let parcel = Parcel { fence: fence.map(Fence), traceparent, ..Parcel::new(message) };
        String::from_utf8(parcel.addressed(7).to_vec()).unwrap()
    }

    #[test]
    fn a_call_that_is_recorded_carries_the_guards_own_trace_context_and_another_keeps_its() {
        let theirs = r#","_meta":{"a":1,"traceparent":"00-theirs"}"#;
        let ours = "00-00000000000000000000000000000001-0000000000000002-01";
        assert!(sent(theirs, None, false).contains(r#""_meta":{"a":1,"traceparent":"00-theirs"}"#));
        assert!(sent(theirs, None, true).contains(&format!(r#""_meta":{{"a":1,"traceparent":"{ours}"}}"#)));
        let added = sent("", Some(5), true);
        assert!(added.contains(&format!(r#""traceparent":"{ours}","dev.interlock/fence":5"#)), "{added}");
        assert!(!sent("", None, false).contains("_meta"));
    }

    #[test]
    fn a_server_with_a_handshake_is_not_told_what_stands_for_one() {
        let text = r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28", "progressToken":"p","io.modelcontextprotocol/clientCapabilities":{"x":[1]},"b\u00e9":{"c":1.0}},"uri":"u"}}"#;
        let message = Message::read(text.into()).unwrap();
        let at = message.parts().uri.unwrap();
        let parcel =
            Parcel { is_bridged: true, edits: vec![(at, b"\"v\"".to_vec())], ..Parcel::new(message) };
        let sent = parcel.addressed(7);
        let expected = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"progressToken":7,"bé":{"c":1.0}},"uri":"v"}}"#;
        assert_eq!(std::str::from_utf8(&sent).unwrap(), expected);
    }
}

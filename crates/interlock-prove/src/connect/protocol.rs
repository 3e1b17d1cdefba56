//! The two styles of the protocol: a handshake at the start, or everything that it said in each request.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Reply, Request, Wire};
use crate::trouble::Trouble;

/// The newest revision that begins with a handshake.
const HANDSHAKE: &str = "2025-11-25";
/// The first that does not.
const STATELESS: &str = "2026-07-28";
/// How long a ping is waited for.
const SETTLED_WITHIN: Duration = Duration::from_millis(500);
/// Lower ids are used up by [`agree`].
pub(super) const FIRST_FREE_ID: i64 = 1000;

/// How requests must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As they are.
    Handshake,
    /// With the revision and who we are in each.
    Stateless,
}

/// Tries the handshake, which almost every server knows, and then the style without one.
pub(super) async fn agree(wire: &mut Wire, patience: Duration) -> Result<Style, Trouble> {
    // A server that we start has a folder of its own, and may ask for it.
    let has_root = matches!(wire, Wire::Stdio(_));
    let capabilities = if has_root { json!({ "roots": {} }) } else { json!({}) };
    let params =
        json!({ "protocolVersion": HANDSHAKE, "capabilities": capabilities, "clientInfo": client() });
    let hello = Request { id: 1, method: "initialize".into(), params };
    let refusal = match wire.ask(&hello, patience).await {
        Ok((_, Reply::Result(result))) => {
            let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or(HANDSHAKE);
            wire.speak(version);
            wire.tell("notifications/initialized", patience).await?;
            if has_root {
                settle(wire, patience).await?;
            }
            return Ok(Style::Handshake);
        }
        Ok((_, error)) => error.text(),
        Err(Trouble::Status(status, text)) => format!("HTTP {status}: {text}"),
        Err(trouble) => return Err(trouble),
    };
    wire.speak(STATELESS);
    let ask = Style::Stateless.dress(Request { id: 2, method: "server/discover".into(), params: json!({}) });
    match wire.ask(&ask, patience).await {
        Ok((_, Reply::Result(_))) => Ok(Style::Stateless),
        Ok((_, Reply::Error(_))) | Err(Trouble::Status(..)) => {
            Err(Trouble::Refused("initialize".into(), refusal))
        }
        Err(trouble) => Err(trouble),
    }
}

/// Waits until the server has dealt with the end of the handshake: many ask for the client's folders then, and the first call must not
/// overtake the answer. Messages are dealt with in turn, so a ping behind it shows that. One who does not answer it is not waited for.
async fn settle(wire: &mut Wire, patience: Duration) -> Result<(), Trouble> {
    let ping = Request { id: 3, method: "ping".into(), params: json!({}) };
    match wire.ask(&ping, patience.min(SETTLED_WITHIN)).await {
        Ok(_) | Err(Trouble::Silent(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

impl Style {
    /// Adds what each request has to carry.
    pub(super) fn dress(self, mut request: Request) -> Request {
        if self == Self::Stateless
            && let Some(params) = request.params.as_object_mut()
        {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert("io.modelcontextprotocol/protocolVersion".into(), STATELESS.into());
                meta.insert("io.modelcontextprotocol/clientInfo".into(), client());
                meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({}));
            }
        }
        request
    }
}

impl Wire {
    /// Notes the revision, which HTTP says in a header.
    fn speak(&mut self, version: &str) {
        if let Self::Http(http) = self {
            http.speak(version);
        }
    }
}

/// Whether a revision wants the headers that repeat what is in the body.
pub(super) fn wants_headers(version: &str) -> bool {
    version >= STATELESS
}

fn client() -> Value {
    json!({ "name": "interlock-prove", "version": env!("CARGO_PKG_VERSION") })
}

//! How a client begins, and what it is told of the servers.
//!
//! | client | server | what happens |
//! |---|---|---|
//! | handshake | handshake, of its own | passed through |
//! | handshake | handshake, shared | the guard makes one handshake in its own name; everybody gets its result, in his own revision |
//! | handshake | stateless | the guard asks what the server can do, answers the handshake itself, and adds to each request what it must state |
//! | stateless | stateless | passed through |
//! | stateless | handshake | the guard makes the handshake itself, and answers `server/discover` from it |
//!
//! A program that speaks both eras is one server of each kind: `upstream/eras.rs`.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    call::{Said, failed, refused, unavailable},
    client::{Session, Style},
    revision,
};
use crate::{
    message::{Code, Edit, Message, Scanner, answer, splice},
    upstream::{Link, Lost, Refusal, STATED, agreed},
};

/// What has to be done to a request because its client and its server are of different eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bridge {
    /// Nothing.
    None,
    /// The server wants each request to state what the client said once.
    States,
    /// The server knows nothing of what the request states, and its answers lack what the client expects.
    Completes,
}

impl Bridge {
    /// What requests to the server carry besides.
    pub(super) fn meta(self) -> &'static str {
        match self {
            Self::States => STATED,
            Self::None | Self::Completes => "",
        }
    }
}

impl Session {
    /// Begins a conversation where the client itself does not do it.
    pub(super) async fn greet(&self, link: &Arc<Link>) -> Result<(), Lost> {
        match (self.style, self.hello.get()) {
            (Style::Stateless, _) => {
                if link.discover().await?.is_none() {
                    link.introduce().await.map_err(Refusal::into_lost)?;
                }
                Ok(())
            }
            // A client without a handshake, or one that has not begun yet.
            (Style::Alone, None) => Ok(()),
            (_, hello) => self.introduce(link, hello, true).await.map(drop).map_err(Refusal::into_lost),
        }
    }

    /// Makes the handshake with a server, or finds out that it has none.
    async fn introduce(
        &self,
        link: &Arc<Link>,
        hello: Option<&Message>,
        completes: bool,
    ) -> Result<Bytes, Refusal> {
        if link.is_stateless() {
            return Ok(Bytes::new());
        }
        let greeted = match hello {
            Some(hello) if link.is_owned() => link.shake_hands(hello.clone(), completes).await,
            _ => link.introduce().await,
        };
        let Err(refusal) = greeted else { return greeted };
        match link.discover().await {
            Ok(Some(_)) => Ok(Bytes::new()),
            _ => Err(refusal),
        }
    }

    /// How a request and its server fit together.
    pub(super) fn bridge(&self, link: &Link, message: &Message) -> Bridge {
        let states = message.parts().stated_version.is_some();
        match (states, link.is_stateless(), link.handshake().is_some()) {
            (false, true, _) => Bridge::States,
            (true, false, true) if self.style == Style::Stateless => Bridge::Completes,
            _ => Bridge::None,
        }
    }

    /// The answer to a request in a revision that is not spoken, where the guard has to give it: an older server would take the request for one of
    /// its own, and a program leaves it to whoever serves HTTP for it.
    pub(super) fn unspoken(&self, link: &Link, bridge: Bridge, message: &Message) -> Option<Said> {
        let is_ours =
            bridge == Bridge::Completes || (self.style == Style::Stateless && link.process().is_some());
        // Almost all requests are in the one revision that everybody without a handshake speaks.
        if !is_ours || message.stated_version().is_none_or(|stated| stated == revision::STATELESS) {
            return None;
        }
        unknown_revision(message, &link.spoken())
    }

    /// The handshake, with the server or with what it said in an earlier one.
    pub(super) async fn greeting(&self, message: &Message) -> Said {
        let _ = self.hello.set(message.clone());
        let asked = message.parts().protocol_version.and_then(|span| message.text(span));
        let Some(asked) = asked else {
            return failed(message, Code::INVALID_PARAMS, "protocolVersion is missing");
        };
        let result = if self.is_merged() {
            self.united(message, &asked).await.map(Bytes::from)
        } else {
            self.single(message, &asked).await
        };
        match result {
            Ok(result) => {
                if let Some(version) = agreed(&result) {
                    let _ = self.version.set(version);
                }
                Said::Answer(answer(&message.id(), &result))
            }
            Err(Refusal::Error(error)) => refused(message, &error),
            Err(Refusal::Lost(lost)) => unavailable(message, &lost),
        }
    }

    /// What the only server says to a handshake.
    async fn single(&self, message: &Message, asked: &str) -> Result<Bytes, Refusal> {
        let link = self.join(0).map_err(Refusal::Lost)?;
        let result = self.introduce(&link, Some(message), false).await?;
        if result.is_empty() {
            let discovery = link.discover().await.map_err(Refusal::Lost)?.unwrap_or_default();
            return Ok(introduction(&discovery, asked).into());
        }
        if link.is_owned() { Ok(result) } else { Ok(in_revision(&result, asked)) }
    }

    /// What all servers together say to a handshake.
    async fn united(&self, message: &Message, asked: &str) -> Result<String, Refusal> {
        let greetings = (0..self.engine.upstreams.len()).map(|index| async move {
            let link = self.join(index).map_err(Refusal::Lost)?;
            let result = self.introduce(&link, Some(message), false).await?;
            if result.is_empty() {
                link.discover().await.map(Option::unwrap_or_default).map_err(Refusal::Lost)
            } else {
                Ok(result)
            }
        });
        let greetings = futures_util::future::join_all(greetings).await;
        let (capabilities, instructions) = unite(greetings)?;
        let version = if revision::WITH_HANDSHAKE.contains(&asked) { asked } else { revision::HANDSHAKE };
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": { "name": "interlock-guard", "version": env!("CARGO_PKG_VERSION") },
        });
        if !instructions.is_empty() {
            insert(&mut result, "instructions", instructions.into());
        }
        Ok(result.to_string())
    }

    /// The answer to `server/discover` where the guard has to give it itself; `None` where it is passed through.
    pub(super) async fn discovery(&self, message: &Message) -> Option<Said> {
        if self.style == Style::Alone && !self.is_merged() {
            return None;
        }
        let results = (0..self.engine.upstreams.len()).map(|index| async move {
            let link = self.link(index, &self.caller).await.map_err(Refusal::Lost)?;
            match link.handshake() {
                Some(result) => Ok(result.clone()),
                None => link.discover().await.map(Option::unwrap_or_default).map_err(Refusal::Lost),
            }
        });
        let results = futures_util::future::join_all(results).await;
        let is_bridged = self.links().iter().any(|link| link.handshake().is_some());
        if !self.is_merged() && !is_bridged {
            return None;
        }
        if let Some(said) = unknown_revision(message, &[revision::STATELESS.to_owned()]) {
            return Some(said);
        }
        let (capabilities, instructions) = match unite(results) {
            Ok(united) => united,
            Err(refusal) => return Some(unavailable(message, &refusal.into_lost())),
        };
        let mut result = json!({
            "resultType": "complete",
            "supportedVersions": [revision::STATELESS],
            "capabilities": capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "interlock-guard", "version": env!("CARGO_PKG_VERSION") } },
        });
        if !instructions.is_empty() {
            insert(&mut result, "instructions", instructions.into());
        }
        Some(Said::Answer(answer(&message.id(), result.to_string().as_bytes())))
    }
}

/// The answer to a request in a revision that is not among those that are spoken.
fn unknown_revision(message: &Message, spoken: &[String]) -> Option<Said> {
    let stated = message.stated_version()?;
    if spoken.iter().any(|version| *version == stated) {
        return None;
    }
    let error = json!({
        "code": Code::UNSUPPORTED_VERSION.0,
        "message": format!("the revision {stated} is not spoken here"),
        "data": { "supported": spoken, "requested": stated },
    });
    Some(refused(message, error.to_string().as_bytes()))
}

/// What several servers can do together, and what they say about it. Those that did not answer are left out, unless none did.
fn unite(greetings: Vec<Result<Bytes, Refusal>>) -> Result<(Value, String), Refusal> {
    let mut capabilities = json!({});
    let mut instructions = Vec::new();
    let mut refusal = None;
    let mut is_any = false;
    for greeting in greetings {
        let result = match greeting {
            Ok(result) => result,
            Err(why) => {
                refusal = Some(why);
                continue;
            }
        };
        is_any = true;
        let Ok(mut result) = serde_json::from_slice::<Value>(&result) else { continue };
        if let Some(own) = result.get_mut("capabilities").map(Value::take) {
            merge(&mut capabilities, own);
        }
        instructions.extend(result.get("instructions").and_then(Value::as_str).map(str::to_owned));
    }
    match refusal {
        Some(refusal) if !is_any => Err(refusal),
        _ => Ok((capabilities, instructions.join("\n\n"))),
    }
}

/// Objects member by member; of anything else, what is true or was there first.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (into @ Value::Bool(false), Value::Bool(true)) => *into = Value::Bool(true),
        _ => {}
    }
}

/// The result of a handshake, made from what a server without one says of itself.
fn introduction(discovery: &[u8], asked: &str) -> String {
    let said: Value = serde_json::from_slice(discovery).unwrap_or_default();
    let version = if revision::WITH_HANDSHAKE.contains(&asked) { asked } else { revision::HANDSHAKE };
    let server = said.pointer("/_meta/io.modelcontextprotocol~1serverInfo").cloned();
    let server =
        server.unwrap_or_else(|| json!({ "name": "interlock-guard", "version": env!("CARGO_PKG_VERSION") }));
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": said.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        "serverInfo": server,
    });
    if let Some(instructions) = said.get("instructions") {
        insert(&mut result, "instructions", instructions.clone());
    }
    result.to_string()
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// The result of a handshake for a client of another revision. What revisions with a handshake have in common is all that the guard uses.
fn in_revision(result: &Bytes, asked: &str) -> Bytes {
    if !revision::WITH_HANDSHAKE.contains(&asked) {
        return result.clone();
    }
    let mut at = None;
    let walked = Scanner::new(result).object(|scanner, key| {
        let span = scanner.value()?;
        if &*key.text() == b"protocolVersion" {
            at = Some(span);
        }
        Ok(())
    });
    match (walked, at) {
        (Ok(_), Some(at)) => splice(result, &mut [Edit::new(at, format!("\"{asked}\"").into_bytes())]),
        _ => result.clone(),
    }
}

/// An answer of a server with a handshake, with what a client without one expects in it.
pub(super) fn completed(answer: &Message, method: &str) -> Option<Edit<'static>> {
    let span = answer.result_span()?;
    let raw = answer.raw(span);
    if answer.parts().result_type.is_some() || !raw.starts_with(b"{") {
        return None;
    }
    let is_empty = raw.get(1..)?.trim_ascii_start().starts_with(b"}");
    let is_cacheable = matches!(
        method,
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "resources/read"
    );
    let hints = if is_cacheable && answer.parts().ttl.is_none() {
        ",\"ttlMs\":0,\"cacheScope\":\"private\""
    } else {
        ""
    };
    let comma = if is_empty { "" } else { "," };
    Some(Edit::after(span.start + 1, format!("\"resultType\":\"complete\"{hints}{comma}").into_bytes()))
}

//! How a conversation begins: the handshake, or the question what a server can do.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{sync::OnceCell, time::timeout};

use super::{
    link::Link,
    parcel::Parcel,
    pending::{Lost, Reply},
};
use crate::{
    message::Message,
    session::revision::{HANDSHAKE, STATELESS, is_stateless},
};

/// What was said at the beginning.
#[derive(Debug, Default)]
pub(crate) struct Greeted {
    handshake: OnceCell<Bytes>,
    discovery: OnceCell<Option<Bytes>>,
}

/// Why a server did not greet back.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// It answered with an error, as JSON text.
    Error(Bytes),
    /// It did not answer.
    Lost(Lost),
}

/// How long a server may take to say what it can do.
const PATIENCE: Duration = Duration::from_secs(5);
/// What the guard says of itself.
const MYSELF: &str =
    concat!("{\"name\":\"interlock-guard\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

macro_rules! stated {
    ($capabilities:literal) => {
        concat!(
            "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",",
            "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"interlock-guard\",\"version\":\"",
            env!("CARGO_PKG_VERSION"),
            "\"},\"io.modelcontextprotocol/clientCapabilities\":",
            $capabilities
        )
    };
}

/// What each request to a server without a handshake carries, if its client did not say it.
pub(crate) const STATED: &str = stated!("{}");
/// The same for a question about a task, which is for clients that know what one is.
pub(crate) const STATED_FOR_TASKS: &str = stated!("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");

impl Refusal {
    /// The same, for somebody who cannot tell it from silence.
    pub(crate) fn into_lost(self) -> Lost {
        match self {
            Self::Lost(lost) => lost,
            Self::Error(error) => {
                Lost::before(format!("it refused the handshake: {}", String::from_utf8_lossy(&error)))
            }
        }
    }
}

impl Link {
    /// Whether it is known how to talk to the server.
    pub(crate) fn is_greeted(&self) -> bool {
        self.handshake().is_some() || self.is_stateless()
    }

    /// Whether the server has no handshake.
    pub(crate) fn is_stateless(&self) -> bool {
        self.handshake().is_none() && self.greeted.discovery.get().is_some_and(Option::is_some)
    }

    /// The revisions without a handshake that requests may state: those that the server speaks, or the one that the guard makes up for.
    pub(crate) fn spoken(&self) -> Vec<String> {
        match self.greeted.discovery.get() {
            Some(Some(result)) if self.is_stateless() => without_handshake(result),
            _ => vec![STATELESS.to_owned()],
        }
    }

    /// The result of the handshake, once it was made.
    pub(crate) fn handshake(&self) -> Option<&Bytes> {
        self.greeted.handshake.get()
    }

    /// Makes the handshake with what a client said of itself, unless it was made already. The server is told that it is complete only if
    /// nobody else will.
    pub(crate) async fn shake_hands(
        self: &Arc<Self>,
        hello: Message,
        completes: bool,
    ) -> Result<Bytes, Refusal> {
        let result = self.greeted.handshake.get_or_try_init(|| async {
            let parcel = Parcel { is_greeting: true, ..Parcel::new(hello) };
            let answer = match self.call(parcel, None).await {
                Reply::Answer(answer) => answer,
                Reply::Lost(lost) => return Err(Refusal::Lost(lost)),
            };
            let Some(result) = answer.result() else {
                return Err(Refusal::Error(answer.error().unwrap_or_default()));
            };
            if let Some(http) = self.http() {
                http.speak(&agreed(&result).unwrap_or_else(|| HANDSHAKE.to_owned()));
            }
            if completes {
                let complete =
                    Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
                self.tell(complete).await.map_err(Refusal::Lost)?;
            }
            Ok(result)
        });
        result.await.cloned()
    }

    /// The handshake in the guard's own name: with none of the abilities that a single client may have.
    pub(crate) async fn introduce(self: &Arc<Self>) -> Result<Bytes, Refusal> {
        let params =
            format!("{{\"protocolVersion\":\"{HANDSHAKE}\",\"capabilities\":{{}},\"clientInfo\":{MYSELF}}}");
        self.shake_hands(request("initialize", &params)?, true).await
    }

    /// What a server without a handshake says of itself; `None` if it has one.
    pub(crate) async fn discover(self: &Arc<Self>) -> Result<Option<Bytes>, Lost> {
        let found = self.greeted.discovery.get_or_try_init(|| async {
            let Ok(question) = request("server/discover", &format!("{{\"_meta\":{{{STATED}}}}}")) else {
                return Ok(None);
            };
            // Some servers with a handshake stay silent to whatever comes before it.
            let asked = self.call(Parcel { is_greeting: true, ..Parcel::new(question) }, None);
            match timeout(PATIENCE, asked).await {
                Ok(Reply::Answer(answer)) => {
                    Ok(answer.result().filter(|result| !without_handshake(result).is_empty()))
                }
                // A process that does not take a question has ended.
                Ok(Reply::Lost(lost)) if lost.may_have_run || self.process().is_some() => Err(lost),
                Ok(Reply::Lost(_)) | Err(_) => Ok(None),
            }
        });
        found.await.cloned()
    }
}

fn request(method: &str, params: &str) -> Result<Message, Refusal> {
    let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"{method}\",\"params\":{params}}}");
    Message::read(text.into()).map_err(|fault| Refusal::Lost(Lost::before(fault.to_string())))
}

/// The revisions without a handshake that a server says it speaks: some answer the question, and speak none.
fn without_handshake(result: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Said {
        #[serde(rename = "supportedVersions")]
        versions: Vec<String>,
    }
    let said = serde_json::from_slice::<Said>(result).map(|said| said.versions).unwrap_or_default();
    said.into_iter().filter(|version| is_stateless(version.as_bytes())).collect()
}

/// The revision that a handshake agreed on.
pub(crate) fn agreed(result: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Agreed {
        #[serde(rename = "protocolVersion")]
        version: String,
    }
    serde_json::from_slice::<Agreed>(result).ok().map(|agreed| agreed.version)
}

//! JSON-RPC messages, as far as prove has to understand them.

use serde_json::{Value, json};

/// A request of ours.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) id: i64,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// What came back for one of our requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Result(Value),
    Error(Value),
}

/// A message from the server.
#[derive(Debug, Clone)]
pub(crate) enum Incoming {
    /// For one of our requests.
    Reply(i64, Reply),
    /// The server asks us something.
    Question(Value, String),
    /// A notification, or something we do not know.
    Other,
    /// No message at all.
    Junk,
}

impl Request {
    pub(crate) fn to_value(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params })
    }
}

impl Reply {
    /// Whether the tool says that it failed, or the protocol does.
    pub(crate) fn is_error(&self) -> bool {
        match self {
            Self::Result(value) => value.get("isError").and_then(Value::as_bool).unwrap_or(false),
            Self::Error(_) => true,
        }
    }

    pub(crate) fn value(&self) -> &Value {
        let (Self::Result(value) | Self::Error(value)) = self;
        value
    }

    /// For messages to people: short, on one line.
    pub(crate) fn text(&self) -> String {
        let value = self.value();
        let words = value.get("message").and_then(Value::as_str);
        let words = words.or_else(|| value.pointer("/content/0/text").and_then(Value::as_str));
        let text = words.map_or_else(|| value.to_string(), str::to_owned);
        text.chars().filter(|c| !c.is_control()).take(200).collect()
    }
}

/// Reads one frame.
pub(crate) fn read(bytes: &[u8]) -> Incoming {
    serde_json::from_slice(bytes).map_or(Incoming::Junk, sort)
}

/// Says what a message is.
pub(crate) fn sort(mut message: Value) -> Incoming {
    if message.get("jsonrpc").is_none() {
        return Incoming::Junk;
    }
    let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
    let id = message.get("id").cloned();
    match (method, id) {
        (Some(method), Some(id)) => Incoming::Question(id, method),
        (None, Some(id)) => {
            // Some servers turn numbers into texts on the way.
            let id = id.as_i64().or_else(|| id.as_str().and_then(|text| text.parse().ok()));
            let Some(id) = id else { return Incoming::Other };
            if let Some(result) = message.get_mut("result") {
                Incoming::Reply(id, Reply::Result(result.take()))
            } else {
                let error = message.get_mut("error").map(Value::take).unwrap_or_default();
                Incoming::Reply(id, Reply::Error(error))
            }
        }
        _ => Incoming::Other,
    }
}

/// What we say to a server that asks us something: yes to a ping, no to everything else.
pub(crate) fn response_to(id: &Value, method: &str) -> Value {
    match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        "roots/list" => json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } }),
        _ => json!({
            "jsonrpc": "2.0", "id": id,
            "error": { "code": -32601, "message": "this client does not do that" },
        }),
    }
}

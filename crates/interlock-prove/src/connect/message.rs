//! JSON-RPC messages, as far as prove has to understand them.

use std::{os::unix::ffi::OsStrExt, path::Path};

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
    /// No message at all; how it begins, for people, and how long it is.
    Junk(String, usize),
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
    match serde_json::from_slice::<Value>(bytes) {
        Ok(message) if message.get("jsonrpc").is_some() => sort(message),
        _ => Incoming::Junk(beginning(bytes), bytes.len()),
    }
}

/// So many characters of what is no message are shown.
const SHOWN: usize = 80;

/// The beginning of a line, with everything spelled out that a terminal would obey.
fn beginning(bytes: &[u8]) -> String {
    // A character has at most four bytes, so these hold all that is shown and one more.
    let first = bytes.get(..4 * (SHOWN + 1)).unwrap_or(bytes);
    let text = String::from_utf8_lossy(first);
    let text = text.trim();
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    if text.chars().count() > SHOWN {
        shown.push('…');
    }
    shown
}

/// Says what a message is.
pub(crate) fn sort(mut message: Value) -> Incoming {
    if message.get("jsonrpc").is_none() {
        let text = message.to_string();
        return Incoming::Junk(beginning(text.as_bytes()), text.len());
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

/// What we say to a server that asks us something: yes to a ping, the folder that is its own, no to everything else.
pub(crate) fn response_to(id: &Value, method: &str, root: Option<&str>) -> Value {
    match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        "roots/list" => {
            let roots: Vec<Value> =
                root.map(|uri| json!({ "uri": uri, "name": "scratch" })).into_iter().collect();
            json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } })
        }
        _ => json!({
            "jsonrpc": "2.0", "id": id,
            "error": { "code": -32601, "message": "this client does not do that" },
        }),
    }
}

/// A folder as a URL.
pub(crate) fn url_of(folder: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in folder.as_os_str().as_bytes() {
        match char::from(*byte) {
            c if c.is_ascii_alphanumeric() || "/-._~".contains(c) => url.push(c),
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_as_a_url() {
        assert_eq!(url_of(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }

    #[test]
    fn what_is_no_message_is_shown_by_its_beginning_and_harmless() {
        let junk = |bytes: &[u8]| match read(bytes) {
            Incoming::Junk(shown, length) => {
                assert_eq!(length, bytes.len());
                shown
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(junk(b"Listening on port 3\n"), "Listening on port 3");
        assert_eq!(junk(b"\x1b[31mred\x07"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(junk(br#"{"level": "info"}"#), r#"{"level": "info"}"#);
        assert_eq!(junk("ä".repeat(500).as_bytes()), format!("{}…", "ä".repeat(80)));
        assert!(junk(&[0xff; 5000]).chars().count() <= 81);
    }
}

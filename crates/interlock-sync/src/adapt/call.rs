//! A call as the warden sees it: who, what, on what.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use super::template::hex;
use crate::store::{Fingerprint, Key};

/// The `_meta` entry by which a client says that two requests are the same call.
pub const IDEMPOTENCY_KEY: &str = "dev.interlock/idempotency-key";

/// Who calls: whatever limits are counted by. It must come from something that the caller cannot choose, such as a verified token, or
/// every name is a new quota.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerName(Arc<str>);

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Which tool.
    pub tool: &'a str,
    /// Who calls it.
    pub caller: &'a CallerName,
    /// With which arguments.
    pub arguments: Option<&'a Map<String, Value>>,
    /// What the request's `_meta` says under [`IDEMPOTENCY_KEY`].
    pub idempotency_key: Option<&'a Value>,
}

impl CallerName {
    /// A caller by this name.
    #[must_use]
    pub fn new(name: impl AsRef<str>) -> Self {
        Self(name.as_ref().into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str>> From<T> for CallerName {
    fn from(name: T) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for CallerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Call<'_> {
    /// What the call says: the tool and its arguments, in whatever order they came.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut text = String::new();
        match self.arguments {
            Some(arguments) => write_object(&mut text, arguments),
            None => text.push_str("{}"),
        }
        Fingerprint::of_parts([self.tool, text.as_str()])
    }
}

/// JSON with sorted names. Whether serde_json keeps the order of the wire is decided by a feature that any crate can turn on, so it is
/// not left to chance.
fn write_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Object(object) => write_object(text, object),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(text, item);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

fn write_object(text: &mut String, object: &Map<String, Value>) {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in entries {
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write_canonical(text, value);
        text.push(',');
    }
    text.push('}');
}

/// A key of several parts, of which each can be any text: parts that are cut elsewhere give another key, and what is too long for a
/// store is folded to its fingerprint.
pub(super) fn joined(kind: &'static str, parts: &[&str]) -> Key {
    let mut text = kind.to_owned();
    for part in parts {
        text.push(':');
        for c in part.chars() {
            if matches!(c, ':' | '%' | '#') || c.is_control() {
                text.push_str(&format!("%{:x};", u32::from(c)));
            } else {
                text.push(c);
            }
        }
    }
    Key::new(text).unwrap_or_else(|_too_long| {
        let folded = hex(&Fingerprint::of_parts(parts));
        Key::new(format!("{kind}:#{folded}")).expect("a kind and a fingerprint are short and plain")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fingerprint(tool: &str, arguments: Value) -> Fingerprint {
        let caller = CallerName::new("alice");
        Call { tool, caller: &caller, arguments: arguments.as_object(), idempotency_key: None }.fingerprint()
    }

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let one: Value = serde_json::from_str(r#"{"a": {"x": 1, "y": [1, 2]}, "b": 2}"#).unwrap();
        let same: Value = serde_json::from_str(r#"{"b": 2, "a": {"y": [1, 2], "x": 1}}"#).unwrap();
        assert_eq!(fingerprint("t", one.clone()), fingerprint("t", same));
        assert_eq!(fingerprint("t", json!({})), fingerprint("t", Value::Null));
        for (tool, arguments) in [
            ("u", one.clone()),
            ("t", json!({"a": {"x": 1, "y": [2, 1]}, "b": 2})),
            ("t", json!({"a": {"x": 1, "y": [1, 2]}, "b": "2"})),
            ("t", json!({"a": {"x": 1, "y": [1, 2], "b": 2}})),
        ] {
            assert_ne!(fingerprint("t", one.clone()), fingerprint(tool, arguments));
        }
    }

    #[test]
    fn parts_that_are_cut_elsewhere_give_another_key() {
        let long = "x".repeat(600);
        let keys = [
            joined("rate", &["a:b", "c"]),
            joined("rate", &["a", "b:c"]),
            joined("rate", &["a", "b", "c"]),
            joined("rate", &["a%3a;b", "c"]),
            joined("rate", &["", ""]),
            joined("rate", &["#"]),
            joined("rate", &["a\n"]),
            joined("rate", &[&long, "a"]),
            joined("rate", &[&long, "b"]),
            joined("flight", &[&long, "b"]),
        ];
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(joined("rate", &["*", "alice"]).as_str(), "rate:*:alice");
    }
}

//! How what a call says becomes text: equal things have equal texts, and different ones different texts.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::store::{Fingerprint, Key};

/// The text of a value, by which things are told apart. Equal numbers have equal texts, however they were written; an empty text, a list and
/// an object name nothing.
#[must_use]
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Number(number) => Some(match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => whole.to_string(),
            (_, Some(whole), _) => whole.to_string(),
            // Below 2^53 each whole number is one float, and the other way round.
            (.., Some(float)) if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => {
                // Adding zero makes minus zero plain.
                format!("{:.0}", float + 0.0)
            }
            _ => number.to_string(),
        }),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An object as JSON text with sorted names. Whether `serde_json` keeps the order of the wire is decided by a feature that any crate can turn
/// on, so it is not left to chance.
#[must_use]
pub fn canonical(object: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_object(&mut text, object);
    text
}

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
#[must_use]
pub fn joined(kind: &'static str, parts: &[&str]) -> Key {
    let mut text = String::with_capacity(kind.len() + parts.iter().map(|part| 1 + part.len()).sum::<usize>());
    text.push_str(kind);
    for part in parts {
        text.push(':');
        push_part(&mut text, part);
    }
    Key::new(text).unwrap_or_else(|_too_long| {
        let folded = hex(&Fingerprint::of_parts(parts));
        Key::new(format!("{kind}:#{folded}")).expect("a kind and a fingerprint are short and plain")
    })
}

fn push_part(text: &mut String, part: &str) {
    // Almost all parts are like this, and can be taken as they are.
    if part.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b':' | b'%' | b'#')) {
        text.push_str(part);
        return;
    }
    for c in part.chars() {
        if matches!(c, ':' | '%' | '#') || c.is_control() {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{:x};", u32::from(c));
        } else {
            text.push(c);
        }
    }
}

/// A fingerprint as text.
pub(crate) fn hex(fingerprint: &Fingerprint) -> String {
    fingerprint.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(joined("lock", &["a#:%", "ä\u{85}\u{7f}~ "]).as_str(), "lock:a%23;%3a;%25;:ä%85;%7f;~ ");
    }
}

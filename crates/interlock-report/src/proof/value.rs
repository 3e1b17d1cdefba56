//! JSON values as text. Keys are sorted here: whether a map keeps the order of its keys depends on what other crates ask of the
//! library that holds it, and the same report must be the same text in every build.

use serde_json::{Map, Value};

/// The entries of an object, sorted by key.
pub(super) fn entries(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

/// The same value with sorted keys.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(object) => Value::Object(
            entries(object).into_iter().map(|(key, item)| (key.clone(), sorted(item))).collect(),
        ),
        leaf => leaf.clone(),
    }
}

/// A value on one line.
pub(super) fn compact(value: &Value) -> String {
    sorted(value).to_string()
}

/// How many lists and objects lie inside each other.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The value that a text holds, if it holds a list or an object: many tools answer with JSON as text.
pub(super) fn inside(text: &str) -> Option<Value> {
    let first = text.trim_start().chars().next()?;
    if !matches!(first, '{' | '[') {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_written_in_order() {
        assert_eq!(
            compact(&json!({"b": [{"z": 1, "a": 2}], "a": null})),
            r#"{"a":null,"b":[{"a":2,"z":1}]}"#
        );
    }

    #[test]
    fn only_lists_and_objects_are_taken_out_of_a_text() {
        assert_eq!(inside(" {\"a\": 1}\n"), Some(json!({"a": 1})));
        for text in ["", "12", "\"a\"", "{a}", "[1] and more"] {
            assert_eq!(inside(text), None, "{text}");
        }
    }

    #[test]
    fn depth_counts_what_lies_inside_each_other() {
        assert_eq!([json!(1), json!([]), json!([{"a": [1]}, 2])].map(|value| depth(&value)), [0, 1, 3]);
    }
}

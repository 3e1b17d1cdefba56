//! Answers as something that can be compared: without envelope, with JSON inside texts read.

use std::path::Path;

use interlock_model::{Answer, Seen};
use serde_json::{Map, Value};

/// An answer without its times, its `_meta` and the instance's folder.
pub(crate) fn normal(answer: &Answer, folder: &Path) -> Seen {
    let folder = folder.to_string_lossy();
    match answer {
        Answer::Result { value, .. } => Seen::Result(clean(value, &folder, 0)),
        Answer::Error { value, .. } => Seen::Error(clean(value, &folder, 0)),
        Answer::Missing { .. } => Seen::Nothing,
    }
}

/// Deeper than this nothing is looked into; answers come from servers we do not know.
const DEEPEST: usize = 64;

fn clean(value: &Value, folder: &str, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    match value {
        Value::String(text) => text_value(text, folder, depth),
        Value::Array(items) => items.iter().map(|item| clean(item, folder, depth + 1)).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "_meta");
            let cleaned = kept
                .map(|(name, field)| (name.replace(folder, "{scratch}"), clean(field, folder, depth + 1)));
            Value::Object(cleaned.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// A text that holds JSON is compared as JSON: where one list is longer, the rest of the text is not another text.
fn text_value(text: &str, folder: &str, depth: usize) -> Value {
    let trimmed = text.trim_start();
    if (trimmed.starts_with('{') || trimmed.starts_with('['))
        && let Ok(inner) = serde_json::from_str::<Value>(text)
    {
        return clean(&inner, folder, depth + 1);
    }
    Value::String(text.replace(folder, "{scratch}"))
}

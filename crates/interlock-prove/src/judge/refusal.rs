//! Refusals that do not say of themselves that they are errors: many servers catch what goes wrong and answer with a sentence.

use interlock_model::Seen;
use serde_json::Value;

/// Words with which a sentence about a failure begins: `Error: …`, `Database error: …`, `Failed to …`.
const WORDS: &[&str] =
    &["error", "exception", "failed", "failure", "conflict", "busy", "locked", "timeout", "refused"];
/// So many words are looked at.
const FIRST: usize = 3;

/// Whether an answer says that the call was refused, as an error or in its words.
pub(super) fn sounds_refused(seen: &Seen) -> bool {
    match seen {
        Seen::Error(_) => true,
        Seen::Nothing => false,
        Seen::Result(value) => {
            let texts = value.get("content").and_then(Value::as_array).into_iter().flatten();
            let texts = texts.filter_map(|part| part.get("text"));
            texts.chain(value.get("structuredContent")).any(in_words)
        }
    }
}

fn in_words(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let mut words =
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(FIRST);
            words.any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
        }
        Value::Object(fields) => {
            let says = |name: &str| {
                fields.get(name).is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
            };
            let denies = |name: &str| fields.get(name) == Some(&Value::Bool(false));
            says("error") || denies("success") || denies("ok")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_is_known_by_how_it_begins() {
        let text = |text: Value| Seen::Result(json!({ "content": [{ "type": "text", "text": text }] }));
        for refused in [
            text(json!("Database error: database is locked")),
            text(json!("Failed to save the note")),
            text(json!({ "error": "conflict" })),
            text(json!({ "success": false })),
            Seen::Result(json!({ "content": [], "structuredContent": { "ok": false } })),
            Seen::Error(json!({})),
        ] {
            assert!(sounds_refused(&refused), "{refused:?}");
        }
        for done in [
            text(json!("Saved. The last error was an hour ago")),
            text(json!({ "error": null, "id": 1 })),
            text(json!({ "success": true })),
            text(json!(["error"])),
            Seen::Nothing,
        ] {
            assert!(!sounds_refused(&done), "{done:?}");
        }
    }
}

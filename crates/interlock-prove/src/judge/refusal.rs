//! Refusals that do not say of themselves that they are errors: many servers catch what goes wrong and answer with a sentence.

use interlock_model::Seen;
use serde_json::Value;

use crate::plan::{
    denial::{begins_like_one, is_denied},
    plain,
};

/// Words with which a sentence about a failure begins: `Error: …`, `Database error: …`, `Failed to …`.
const WORDS: &[&str] =
    &["error", "exception", "failed", "failure", "conflict", "busy", "locked", "timeout", "refused"];
/// So many words are looked at.
const FIRST: usize = 3;

/// Whether an answer says that the call was refused, as an error or in its words.
pub(crate) fn sounds_refused(seen: &Seen) -> bool {
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
                || begins_like_one(text)
        }
        Value::Object(fields) => is_denied(fields),
        _ => false,
    }
}

/// Names of fields that say how it went.
const SAYS_HOW: &[&str] = &["status", "state", "result", "outcome", "message", "reason", "code"];

/// Whether an answer is of another kind than all that calls are answered one after another: it has other fields, denies what they affirm, or
/// says it in other words. If besides nothing came of the call, it was refused, however politely.
pub(super) fn is_told_otherwise(seen: &Seen, known: &[Seen]) -> bool {
    let Seen::Result(value) = seen else { return false };
    let known: Vec<Value> = known
        .iter()
        .filter_map(|seen| match seen {
            Seen::Result(value) => Some(plain(value)),
            Seen::Error(_) | Seen::Nothing => None,
        })
        .collect();
    let told = plain(value);
    !known.is_empty() && known.iter().all(|known| is_unlike(&told, known))
}

fn is_unlike(told: &Value, known: &Value) -> bool {
    match (told, known) {
        (Value::Object(told), Value::Object(known)) => {
            let denies = |(name, value): (&String, &Value)| match (value, known.get(name)) {
                (_, None) => true,
                (Value::Bool(told), Some(Value::Bool(known))) => told != known,
                (Value::String(told), Some(Value::String(known))) if SAYS_HOW.contains(&name.as_str()) => {
                    has_other_words(told, known)
                }
                _ => false,
            };
            told.iter().any(denies)
        }
        (Value::String(told), Value::String(known)) => has_other_words(told, known),
        (told, known) => std::mem::discriminant(told) != std::mem::discriminant(known),
    }
}

/// Whether at most half of the words of one text are in the other; numbers are no words.
fn has_other_words(told: &str, known: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (told, known) = (words(told), words(known));
    let shared = told.iter().filter(|word| known.contains(word)).count();
    !told.is_empty() && shared * 2 <= told.len()
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

    #[test]
    fn a_refusal_is_also_known_by_being_told_something_else() {
        let text = |text: Value| {
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            Seen::Result(json!({ "content": [{ "type": "text", "text": text }] }))
        };
        for (told, known) in [
            (json!({"status": "conflict"}), json!({"status": "saved"})),
            (json!({"saved": false}), json!({"saved": true, "total": 2})),
            (json!({"reason": "somebody was quicker"}), json!({"total": 2})),
            (json!("Somebody else changed the list meanwhile"), json!("Added milk, 2 items")),
            (json!("Cannot add: the list was changed by another call"), json!("Added milk to the list")),
        ] {
            assert!(is_told_otherwise(&text(told.clone()), &[text(known.clone())]), "{told} {known}");
        }
        for (told, known) in [
            (json!({"status": "saved", "total": 1}), json!({"status": "saved", "total": 2})),
            (json!({"balance": 50}), json!({"balance": 0})),
            (json!("Added milk, 1 item"), json!("Added milk, 2 items")),
            (json!(["a"]), json!(["a", "b"])),
            (json!(1), json!(2)),
        ] {
            assert!(!is_told_otherwise(&text(told.clone()), &[text(known.clone())]), "{told} {known}");
        }
        let (one, two) = (text(json!({"saved": true})), text(json!({"saved": false, "why": "full"})));
        assert!(!is_told_otherwise(&text(json!({"saved": false})), &[one, two]), "one of them says so too");
        assert!(!is_told_otherwise(&text(json!("anything")), &[]));
    }
}

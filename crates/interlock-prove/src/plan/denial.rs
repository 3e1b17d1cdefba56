//! Refusals inside results: many servers catch what goes wrong and answer with a field or a sentence.

use serde_json::{Map, Value};

/// What a field that says how it went says of a call that was refused.
const STATUSES: &[&str] = &[
    "error",
    "failed",
    "failure",
    "fail",
    "refused",
    "rejected",
    "denied",
    "conflict",
    "invalid",
    "not_found",
    "notfound",
    "forbidden",
    "unauthorized",
];

/// How a sentence about a refusal begins, in the languages that servers speak.
const BEGINNINGS: &[&str] = &[
    "error",
    "failed",
    "failure",
    "not found",
    "invalid",
    "cannot",
    "could not",
    "unable to",
    "unknown",
    "access denied",
    "permission denied",
    "fehler",
    "erreur",
    "échec",
    "errore",
    "erro:",
    "erro ",
    "fallo",
    "no se pudo",
    "ошибка",
    "エラー",
    "错误",
    "失败",
    "無效",
    "无效",
    "오류",
    "실패",
    "❌",
    "🚫",
    "✗",
    "✖",
];

/// Whether the fields of an answer say that the call was refused.
pub(crate) fn is_denied(fields: &Map<String, Value>) -> bool {
    let says = |name: &str| {
        fields.get(name).is_some_and(|value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        })
    };
    let denies = |name: &str| fields.get(name) == Some(&Value::Bool(false));
    let is_status = |name: &str| {
        let status = fields.get(name).and_then(Value::as_str);
        status.is_some_and(|status| STATUSES.iter().any(|known| status.eq_ignore_ascii_case(known)))
    };
    says("error")
        || fields.get("isError") == Some(&Value::Bool(true))
        || denies("success")
        || denies("ok")
        || is_status("status")
}

/// Whether a sentence begins like a refusal.
pub(crate) fn begins_like_one(text: &str) -> bool {
    let start: String =
        text.trim_start_matches(['"', ' ', '{', '[', '*', '#', '\n']).chars().take(40).collect();
    let start = start.to_lowercase();
    // `Database error: no such table`; but `no error: saved`.
    let mut words = start.splitn(3, ' ');
    let kind = words.next().unwrap_or_default();
    let names_kind = words.next() == Some("error:") && !["no", "without", "0"].contains(&kind);
    names_kind || BEGINNINGS.iter().any(|beginning| start.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_is_known_by_its_fields() {
        let denied = |value: Value| is_denied(value.as_object().unwrap());
        for refused in [
            json!({"error": "no such note"}),
            json!({"status": "error", "message": "x"}),
            json!({"status": "NOT_FOUND"}),
            json!({"success": false}),
            json!({"ok": false}),
            json!({"isError": true}),
        ] {
            assert!(denied(refused.clone()), "{refused}");
        }
        for done in [
            json!({"error": null, "id": 1}),
            json!({"error": ""}),
            json!({"errors": 0, "status": "open"}),
            json!({"success": true}),
            json!({"status": "ok"}),
            json!({}),
        ] {
            assert!(!denied(done.clone()), "{done}");
        }
    }

    #[test]
    fn and_by_how_its_sentence_begins_in_several_languages() {
        for refused in [
            "Error: none",
            "Fehler: nichts da",
            "❌ Task not found",
            "错误：没有",
            "  \"Failed to save",
            "**Error** x",
            "Database error: no such table: item_a",
        ] {
            assert!(begins_like_one(refused), "{refused}");
        }
        for done in [
            "Saved",
            "The error log was rotated",
            "1 failed test noted",
            "",
            "No error: saved",
            "Kept the error: x",
        ] {
            assert!(!begins_like_one(done), "{done}");
        }
    }
}

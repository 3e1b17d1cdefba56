//! What a tool says, without its wrapping.

use serde_json::Value;

/// The value of a tool's result: its structured content, else the JSON that its only text is, else the text, else the result as it is.
#[must_use]
pub fn plain(result: &Value) -> Value {
    if let Some(structured) = result.get("structuredContent").filter(|value| !value.is_null()) {
        return match wrapped_text(structured) {
            Some(text) => parsed(text).unwrap_or_else(|| Value::from(text)),
            None => structured.clone(),
        };
    }
    let Some([only]) = result.get("content").and_then(Value::as_array).map(Vec::as_slice) else {
        return result.clone();
    };
    match only.get("text") {
        Some(Value::String(text)) => parsed(text).unwrap_or_else(|| Value::from(text.as_str())),
        // Outcomes have the JSON inside texts read already.
        Some(read) => read.clone(),
        None => result.clone(),
    }
}

/// The text in `{"result": "…"}`: FastMCP puts a tool's text there because structured content has to be an object, and says it again as content.
fn wrapped_text(structured: &Value) -> Option<&str> {
    let fields = structured.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("result")?.as_str()
}

/// A text that is JSON of more than one word: `12` and `true` in a text are words.
pub(super) fn parsed(text: &str) -> Option<Value> {
    let looks = text.trim_start().starts_with(['{', '[']);
    looks.then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_taken_out_of_its_wrapping() {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        assert_eq!(plain(&json!({"content": [], "structuredContent": {"a": 1}})), json!({"a": 1}));
        assert_eq!(plain(&text(r#" {"a": 1}"#)), json!({"a": 1}));
        let wrapped = |value: Value| json!({"content": [], "structuredContent": value});
        assert_eq!(plain(&wrapped(json!({"result": "Error: none"}))), json!("Error: none"));
        assert_eq!(plain(&wrapped(json!({"result": "[1]"}))), json!([1]));
        assert_eq!(plain(&wrapped(json!({"result": [1]}))), json!({"result": [1]}));
        assert_eq!(plain(&wrapped(json!({"result": "x", "id": 1}))), json!({"result": "x", "id": 1}));
        assert_eq!(plain(&text("12")), json!("12"));
        assert_eq!(plain(&text("{no json}")), json!("{no json}"));
        let two = json!({"content": [{"text": "a"}, {"text": "b"}]});
        assert_eq!(plain(&two), two);
        assert_eq!(plain(&json!("x")), json!("x"));
    }
}

//! A call as one writes it on the command line: `TOOL {json}`.

use interlock_model::PlannedCall;
use serde_json::{Map, Value};

/// Why a text is no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// There is nothing in it.
    #[error(
        "a call is a tool's name and its arguments as a JSON object, such as `add_note {{\"text\": \"a\"}}`; this is empty"
    )]
    Empty,
    /// It begins with the arguments.
    #[error(
        "a call begins with the name of its tool, such as `add_note {{\"text\": \"a\"}}`; `{0}` begins with its arguments"
    )]
    NoTool(String),
    /// The arguments are not JSON.
    #[error("the arguments of `{tool}` are no JSON: {why} at character {at} of `{text}`")]
    NotJson {
        /// The tool.
        tool: String,
        /// What the parser says.
        why: String,
        /// Where in the whole text, in characters from 1.
        at: usize,
        /// The whole text.
        text: String,
    },
    /// The arguments are JSON, but of another kind.
    #[error(
        "the arguments of `{tool}` are {kind}; a tool takes a JSON object, such as `{{\"text\": \"a\"}}`"
    )]
    NoObject {
        /// The tool.
        tool: String,
        /// What they are.
        kind: &'static str,
    },
}

/// Reads `TOOL {json}`; without arguments they are `{}`.
///
/// # Errors
///
/// When there is no tool, or the arguments are no JSON object.
pub fn call(text: &str) -> Result<PlannedCall, SpecError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(SpecError::Empty);
    }
    let end = trimmed.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(trimmed.len());
    let (tool, rest) = trimmed.split_at_checked(end).unwrap_or((trimmed, ""));
    if tool.is_empty() {
        return Err(SpecError::NoTool(trimmed.to_owned()));
    }
    let json = rest.trim_start();
    if json.is_empty() {
        return Ok(PlannedCall::new(tool, Value::Object(Map::new())));
    }
    match serde_json::from_str::<Value>(json) {
        Ok(arguments @ Value::Object(_)) => Ok(PlannedCall::new(tool, arguments)),
        Ok(other) => Err(SpecError::NoObject { tool: tool.to_owned(), kind: kind(&other) }),
        Err(error) => {
            let before = text.chars().count() - text.trim_start().chars().count() + skipped(trimmed, json);
            let message = error.to_string();
            // The parser tells line and column of its own text; a person counts in what was typed.
            let why = message.split(" at line ").next().unwrap_or(&message).to_owned();
            let at = before + place(json, error.line(), error.column());
            Err(SpecError::NotJson { tool: tool.to_owned(), why, at, text: text.to_owned() })
        }
    }
}

/// How many characters of `text` come before its ending `tail`.
fn skipped(text: &str, tail: &str) -> usize {
    text.chars().count() - tail.chars().count()
}

/// A line and a column in bytes as a number of characters from the beginning.
fn place(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let earlier: usize = lines.clone().take(line.saturating_sub(1)).map(|line| line.chars().count()).sum();
    let here = lines.clone().nth(line.saturating_sub(1)).unwrap_or_default();
    earlier + here.char_indices().filter(|(at, _)| *at < column).count().max(1)
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn refused(text: &str, expected: Expect) {
        expected.assert_eq(&call(text).unwrap_err().to_string());
    }

    #[test]
    fn a_call_is_a_tool_and_its_arguments() {
        let expected = PlannedCall::new("add_note", json!({"text": "{scratch}/a b"}));
        for text in [r#"add_note {"text":"{scratch}/a b"}"#, "  add_note{\"text\": \"{scratch}/a b\"}\n"] {
            assert_eq!(call(text).unwrap(), expected);
        }
        assert_eq!(call("list").unwrap(), PlannedCall::new("list", json!({})));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        refused(
            " ",
            expect![
                "a call is a tool's name and its arguments as a JSON object, such as `add_note {\"text\": \"a\"}`; this is empty"
            ],
        );
        refused(
            r#"{"a":1}"#,
            expect![[
                r#"a call begins with the name of its tool, such as `add_note {"text": "a"}`; `{"a":1}` begins with its arguments"#
            ]],
        );
        refused(
            "t [1]",
            expect![[
                r#"the arguments of `t` are a list; a tool takes a JSON object, such as `{"text": "a"}`"#
            ]],
        );
        refused(
            r#"tool {"a": tru}"#,
            expect![[
                r#"the arguments of `tool` are no JSON: expected ident at character 15 of `tool {"a": tru}`"#
            ]],
        );
        refused(
            r#"tool {"ä": }"#,
            expect![[
                r#"the arguments of `tool` are no JSON: expected value at character 12 of `tool {"ä": }`"#
            ]],
        );
        refused(
            "tool {\"a\": 1,\n  b}",
            expect![[r#"
            the arguments of `tool` are no JSON: key must be a string at character 17 of `tool {"a": 1,
              b}`"#]],
        );
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = format!("tool {{\"a\": {}", "[".repeat(100_000));
        assert!(matches!(call(&deep), Err(SpecError::NotJson { .. })));
    }
}

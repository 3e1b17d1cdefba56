//! Arguments that the revision of 2026-07-28 wants in headers too: a tool's schema names the header beside the property. Whoever takes the body in
//! compares the two, since somebody on the way may have decided by the header. A program behind a pipe sees no headers, so the guard does.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use serde_json::Value;

use super::http::decoded;

/// An argument that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirrored {
    header: HeaderName,
    /// The names on the way to it.
    path: Vec<String>,
    /// Whether `42` and `42.0` are the same.
    is_number: bool,
}

/// The name of the keyword in a schema.
const KEYWORD: &str = "x-mcp-header";

/// What a tool's schema declares. Only what is reached through `properties` counts; of anything else nobody can say where its value is.
pub(super) fn declared(schema: &str) -> Arc<[Mirrored]> {
    // Almost no schema has any, so most are not taken apart.
    if !schema.contains(KEYWORD) {
        return Arc::default();
    }
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let mut found = Vec::new();
    let mut path = Vec::new();
    collect(&schema, &mut path, &mut found);
    found.into()
}

/// As deep as the parser lets a schema be.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    let kind = schema.get("type").and_then(Value::as_str);
    if let Some(name) = schema.get(KEYWORD).and_then(Value::as_str)
        && !path.is_empty()
        && !name.is_empty()
        && matches!(kind, Some("string" | "integer" | "number" | "boolean"))
        && let Ok(header) = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes())
    {
        let is_number = matches!(kind, Some("integer" | "number"));
        found.push(Mirrored { header, path: path.clone(), is_number });
    }
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        collect(inner, path, found);
        path.pop();
    }
}

/// In which way the headers of a call and its arguments contradict each other, if they do.
pub(crate) fn disagreement(
    mirrored: &[Mirrored],
    arguments: &[u8],
    headers: &[(HeaderName, HeaderValue)],
) -> Option<String> {
    if mirrored.is_empty() {
        return None;
    }
    let arguments: Value = serde_json::from_slice(arguments).unwrap_or_default();
    mirrored.iter().find_map(|one| one.disagrees(&arguments, headers))
}

impl Mirrored {
    fn disagrees(&self, arguments: &Value, headers: &[(HeaderName, HeaderValue)]) -> Option<String> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            // What is null is not there, and what is no single value has no header.
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        let header = &self.header;
        let mut values = headers.iter().filter(|(name, _)| name == header).map(|(_, value)| value);
        let (Some(stated), None) = (values.next(), values.next()) else {
            return Some(format!("the header {header} must be there once, as the argument is"));
        };
        let Some(stated) = decoded(stated) else {
            return Some(format!("the header {header} cannot be decoded"));
        };
        let is_same =
            if self.is_number && value.is_number() { whole(&stated) == whole(&text) } else { stated == text };
        (!is_same).then(|| format!("the header {header} is not the argument in the body"))
    }
}

/// A number without the zeros behind its point.
fn whole(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "size":{"type":"integer","x-mcp-header":"Size"},
        "deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Flag"}}},
        "list":{"type":"array","items":{"type":"string","x-mcp-header":"Item"}},
        "odd":{"type":"object","x-mcp-header":"Odd"},
        "bad":{"type":"string","x-mcp-header":"not a token"}}}"#;

    fn agrees(arguments: &str, headers: &[(&'static str, &'static str)]) -> bool {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        disagreement(&declared(SCHEMA), arguments.as_bytes(), &headers).is_none()
    }

    #[test]
    fn only_single_values_that_are_reached_by_names_are_repeated() {
        let names: Vec<_> = declared(SCHEMA).iter().map(|one| one.header.to_string()).collect();
        assert_eq!(names, ["mcp-param-flag", "mcp-param-region", "mcp-param-size"]);
        assert!(declared("{}").is_empty());
        assert!(declared(r#"{"x-mcp-header""#).is_empty());
    }

    #[test]
    fn a_value_in_the_body_must_be_in_its_header_and_be_the_same() {
        assert!(agrees(r#"{"region":"a b"}"#, &[("mcp-param-region", "a b")]));
        assert!(agrees(r#"{"region":"Hello"}"#, &[("mcp-param-region", "=?base64?SGVsbG8=?=")]));
        assert!(agrees(
            r#"{"size":42,"deep":{"flag":true}}"#,
            &[("mcp-param-size", "42.0"), ("mcp-param-flag", "true")]
        ));
        for (arguments, headers) in [
            (r#"{"region":"a"}"#, &[][..]),
            (r#"{"region":"a"}"#, &[("mcp-param-region", "b")]),
            (r#"{"region":"a"}"#, &[("mcp-param-region", "a"), ("mcp-param-region", "a")]),
            (r#"{"region":"Hello"}"#, &[("mcp-param-region", "=?base64?SGVsbG8?=")]),
            (r#"{"region":"Hello"}"#, &[("mcp-param-region", "=?base64?SGVs!!!bG8=?=")]),
            (r#"{"region":"42"}"#, &[("mcp-param-region", "42.0")]),
            (r#"{"size":42}"#, &[("mcp-param-size", "42.5")]),
            (r#"{"deep":{"flag":true}}"#, &[("mcp-param-flag", "TRUE")]),
        ] {
            assert!(!agrees(arguments, headers), "{arguments} {headers:?}");
        }
    }

    #[test]
    fn what_is_not_in_the_body_is_expected_in_no_header() {
        assert!(agrees("{}", &[]));
        assert!(agrees("", &[]));
        assert!(agrees(r#"{"region":null}"#, &[("mcp-param-region", "whatever")]));
    }
}

//! The template of a key: from a call's arguments to the thing that it works on.

use std::{fmt, str::FromStr};

use serde_json::{Map, Value};

use crate::{
    spell::{hex, scalar},
    store::{Fingerprint, Key},
};

/// A key with holes for a call's arguments: `order:{args.orderId}`, `{args.file.name}`, or plain text.
///
/// A hole is filled with a text, a number or a truth value. Numbers that are equal fill it equally (`1`, `1.0` and `1e0`), because a handler
/// that reads a number does not tell them apart either. What a handler treats as equal beyond that, such as `a` and `./a` as names of a
/// file, is for whoever writes the template to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Argument(Path),
}

/// Which argument: names from the arguments' root inwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(Vec<String>);

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTemplate {
    /// Nothing would be locked.
    #[error("a key must not be empty")]
    Empty,
    /// A brace without its partner.
    #[error("`{0}` has a brace without its partner")]
    Unbalanced(String),
    /// A hole that names no argument.
    #[error("`{{{0}}}` names no argument: write `{{args.NAME}}`")]
    NotAnArgument(String),
}

/// Why a hole could not be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unfilled {
    /// The call has no such argument, or it is null.
    Missing(String),
    /// It is a list or an object, or an empty text.
    Unusable(String),
}

impl Template {
    /// The key for a call with these arguments.
    pub(super) fn fill(&self, arguments: Option<&Map<String, Value>>) -> Result<String, Unfilled> {
        let mut key = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Argument(path) => match path.text(arguments)? {
                    Some(text) => key.push_str(&text),
                    None => return Err(Unfilled::Missing(path.to_string())),
                },
            }
        }
        Ok(folded(key))
    }
}

impl Path {
    /// The argument as text; `None` if it is missing or null.
    pub(super) fn text(&self, arguments: Option<&Map<String, Value>>) -> Result<Option<String>, Unfilled> {
        let mut names = self.0.iter();
        let first = names.next().and_then(|name| arguments?.get(name));
        let value = names.fold(first, |value, name| value?.get(name));
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match scalar(value) {
                Some(text) => Ok(Some(text)),
                None => Err(Unfilled::Unusable(self.to_string())),
            },
        }
    }
}

/// A key of endless length would be kept in memory for as long as the call takes: from some length on, its fingerprint stands for it.
pub(super) fn folded(key: String) -> String {
    if key.len() <= Key::LONGEST { key } else { format!("#{}", hex(&Fingerprint::of(&key))) }
}

impl FromStr for Template {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unbalanced = || InvalidTemplate::Unbalanced(text.to_owned());
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (before, after) = rest.split_at(rest.find(['{', '}']).unwrap_or(rest.len()));
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            rest = after;
            if let Some(hole) = after.strip_prefix('{') {
                let (inside, behind) = hole.split_once('}').ok_or_else(unbalanced)?;
                let path = inside.strip_prefix("args.").and_then(|names| names.parse().ok());
                let path = path.ok_or_else(|| InvalidTemplate::NotAnArgument(inside.to_owned()))?;
                parts.push(Part::Argument(path));
                rest = behind;
            } else if !after.is_empty() {
                return Err(unbalanced());
            }
        }
        if parts.is_empty() { Err(InvalidTemplate::Empty) } else { Ok(Self(parts)) }
    }
}

impl FromStr for Path {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names: Vec<String> = text.split('.').map(str::to_owned).collect();
        if names.iter().any(|name| name.is_empty() || name.contains(['{', '}'])) {
            return Err(InvalidTemplate::NotAnArgument(text.to_owned()));
        }
        Ok(Self(names))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Argument(path) => write!(f, "{{args.{path}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(template: &str, arguments: Value, expected: Result<&str, Unfilled>) {
        let template: Template = template.parse().unwrap();
        assert_eq!(template.fill(arguments.as_object()), expected.map(str::to_owned), "{template}");
    }

    #[test]
    fn holes_are_filled_from_the_arguments() {
        check("graph", json!({}), Ok("graph"));
        check("order:{args.orderId}", json!({"orderId": "o-1"}), Ok("order:o-1"));
        check("{args.a.b}/{args.c}", json!({"a": {"b": true}, "c": 7}), Ok("true/7"));
    }

    #[test]
    fn equal_numbers_make_equal_keys_however_they_were_written() {
        for number in ["1", "1.0", "1e0", "10e-1"] {
            let arguments: Value = serde_json::from_str(&format!("{{\"id\": {number}}}")).unwrap();
            check("{args.id}", arguments, Ok("1"));
        }
        check("{args.id}", json!({"id": -0.0}), Ok("0"));
        check("{args.id}", json!({"id": -10.0}), Ok("-10"));
        check("{args.id}", json!({"id": 0.5}), Ok("0.5"));
        check("{args.id}", json!({"id": u64::MAX}), Ok("18446744073709551615"));
    }

    #[test]
    fn a_call_that_does_not_say_what_it_works_on_has_no_key() {
        let missing = || Err(Unfilled::Missing("id".into()));
        let unusable = || Err(Unfilled::Unusable("id".into()));
        check("x:{args.id}", json!({}), missing());
        check("x:{args.id}", json!({"id": null}), missing());
        check("x:{args.id}", json!({"id": ["a"]}), unusable());
        check("x:{args.id}", json!({"id": ""}), unusable());
        check("x:{args.id.no}", json!({"id": "a"}), Err(Unfilled::Missing("id.no".into())));
        assert_eq!("{args.id}".parse::<Template>().unwrap().fill(None), missing().map(str::to_owned));
    }

    #[test]
    fn a_long_key_is_folded_and_still_its_own() {
        let fill = |id: String| {
            "x:{args.id}".parse::<Template>().unwrap().fill(json!({ "id": id }).as_object()).unwrap()
        };
        let (one, other) = (fill("a".repeat(10_000)), fill("a".repeat(10_001)));
        assert!(one.len() < 100);
        assert_ne!(one, other);
    }

    #[test]
    fn a_template_that_could_not_be_filled_is_refused() {
        let refused = |text: &str| text.parse::<Template>().unwrap_err();
        assert_eq!(refused(""), InvalidTemplate::Empty);
        assert_eq!(refused("order:{args.id"), InvalidTemplate::Unbalanced("order:{args.id".into()));
        assert_eq!(refused("order}"), InvalidTemplate::Unbalanced("order}".into()));
        for inside in ["id", "args.", "args.a..b", "args", ""] {
            assert_eq!(refused(&format!("{{{inside}}}")), InvalidTemplate::NotAnArgument(inside.into()));
        }
        assert_eq!(refused("{args.{x}}"), InvalidTemplate::NotAnArgument("args.{x".into()));
    }
}

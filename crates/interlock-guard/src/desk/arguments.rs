//! What a call says of itself, read from the text of its arguments only as far as somebody asks.

use std::{borrow::Cow, collections::BTreeMap};

use interlock_model::{KeyPart, KeyTemplate};
use interlock_sync::{spell, store::Fingerprint};
use serde_json::{Map, Value, value::RawValue};

use crate::message::{Scanner, is_alike};

/// The members of a JSON object of which only the first level was read: names, and values as they are written.
type Members<'a> = Vec<(Cow<'a, [u8]>, &'a [u8])>;

/// A JSON object as text, read when the first question comes.
pub(super) struct Object<'a> {
    text: &'a [u8],
    members: Option<Members<'a>>,
}

/// Why something cannot be told from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unfilled {
    /// There is no such argument, or it is null.
    Missing(String),
    /// It is a list or an object, or an empty text; or it is there twice, and servers differ in which one counts.
    Unusable(String),
}

impl<'a> Object<'a> {
    /// An object by its text; empty text is an object without members, and so is text that is no object.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, members: None }
    }

    /// The value at a path, as far as it is there and not null.
    pub(super) fn at(&mut self, path: &[String]) -> Result<Option<Value>, Unfilled> {
        // What names a thing is short; a list or an object names nothing, so it is not read.
        Ok(match self.raw_at(path)? {
            None => None,
            Some([b'{', ..]) => Some(Value::Object(Map::new())),
            Some([b'[', ..]) => Some(Value::Array(Vec::new())),
            Some(raw) => serde_json::from_slice(raw).ok().filter(|value: &Value| !value.is_null()),
        })
    }

    /// The value at a path as it is written.
    fn raw_at(&mut self, path: &[String]) -> Result<Option<&'a [u8]>, Unfilled> {
        let Some((first, inner)) = path.split_first() else { return Ok(None) };
        let twice = |_: Twice| Unfilled::Unusable(path.join("."));
        let text = self.text;
        let members = self.members.get_or_insert_with(|| members(text));
        let mut found = named(members, first).map_err(twice)?;
        for name in inner {
            let Some(outer) = found else { return Ok(None) };
            found = named(&self::members(outer), name).map_err(twice)?;
        }
        Ok(found)
    }

    /// The text of the value at a path by which it is told apart; `None` if it is not there.
    pub(super) fn text_at(&mut self, path: &[String]) -> Result<Option<Cow<'a, str>>, Unfilled> {
        // Most are strings that say what is written.
        if let Some([b'"', text @ .., b'"']) = self.raw_at(path)?
            && !text.is_empty()
            && !text.contains(&b'\\')
            && let Ok(text) = std::str::from_utf8(text)
        {
            return Ok(Some(Cow::Borrowed(text)));
        }
        let unusable = || Unfilled::Unusable(path.join("."));
        let value = self.at(path)?;
        value.map(|value| spell::scalar(&value).map(Cow::Owned).ok_or_else(unusable)).transpose()
    }

    /// The key for these arguments.
    pub(super) fn fill(&mut self, template: &KeyTemplate) -> Result<String, Unfilled> {
        let mut key = String::new();
        for part in template.parts() {
            match part {
                KeyPart::Text(text) => key.push_str(text),
                KeyPart::Argument(path) => match self.text_at(path)? {
                    Some(text) => key.push_str(&text),
                    None => return Err(Unfilled::Missing(path.join("."))),
                },
            }
        }
        Ok(key)
    }
}

/// The members of an object; none if it is no object.
fn members(text: &[u8]) -> Members<'_> {
    let mut members = Vec::new();
    let mut scanner = Scanner::new(text);
    let walked = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        members.push((key.text(), text.get(value.start as usize..value.end as usize).unwrap_or_default()));
        Ok(())
    });
    if walked.and_then(|_| scanner.end()).is_err() {
        members.clear();
        // It may only be nested more deeply than the scanner goes.
        let read: BTreeMap<String, &RawValue> = serde_json::from_slice(text).unwrap_or_default();
        let read = read.into_iter().map(|(name, value)| (name.into_bytes().into(), value.get().as_bytes()));
        members.extend(read);
    }
    members
}

/// A name that is there more than once.
struct Twice;

/// The member of a name. Most servers take the last of two, some the first, and those written in Go take one whose name differs in case alone:
/// a call must not be able to lock one thing and to work on another.
fn named<'a>(members: &Members<'a>, name: &str) -> Result<Option<&'a [u8]>, Twice> {
    let mut alike = members.iter().filter(|(known, _)| is_alike(known, name.as_bytes()));
    match (alike.next(), alike.next()) {
        (Some((known, value)), None) => Ok((**known == *name.as_bytes()).then_some(*value)),
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(Twice),
    }
}

/// What a call says: the tool and its arguments, in whatever order they came. Arguments that are nested too deeply to be read count as
/// they were written.
pub(super) fn fingerprint(tool: &str, arguments: &[u8]) -> Fingerprint {
    let canonical = if arguments.is_empty() {
        "{}".to_owned()
    } else {
        match serde_json::from_slice::<Map<String, Value>>(arguments) {
            Ok(read) => spell::canonical(&read),
            Err(_) => return Fingerprint::of_parts([tool.as_bytes(), b"unread", arguments]),
        }
    };
    Fingerprint::of_parts([tool, canonical.as_str()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, arguments: &str, expected: Result<&str, Unfilled>) {
        let filled = Object::new(arguments.as_bytes()).fill(&template.parse().unwrap());
        assert_eq!(filled, expected.map(str::to_owned), "{template} with {arguments}");
    }

    #[test]
    fn holes_are_filled_from_the_arguments() {
        check("graph", "", Ok("graph"));
        check("order:{args.orderId}", r#"{"x": [{"orderId": 1}], "orderId": "o-1"}"#, Ok("order:o-1"));
        check("{args.a.b}/{args.c}", r#"{"a": {"b": true}, "c": 7}"#, Ok("true/7"));
        check("{args.é}", r#"{"\u00e9": "\u00e4"}"#, Ok("ä"));
        check("{args.id}", r#"{"id": "a\"b"}"#, Ok("a\"b"));
    }

    #[test]
    fn what_is_there_twice_says_nothing_as_servers_differ_in_which_one_counts() {
        let unusable = |name: &str| Err(Unfilled::Unusable(name.into()));
        check("{args.id}", r#"{"id": 1, "id": 2}"#, unusable("id"));
        check("{args.id}", r#"{"id": 1, "ID": 2}"#, unusable("id"));
        check("{args.a.b}", r#"{"a": {"b": 1, "\u0062": 2}}"#, unusable("a.b"));
        check("{args.id}", r#"{"id": 1, "x": 2, "x": 3}"#, Ok("1"));
        check("{args.id}", r#"{"ID": 1}"#, Err(Unfilled::Missing("id".into())));
    }

    #[test]
    fn equal_numbers_make_equal_keys_however_they_were_written() {
        for number in ["1", "1.0", "1e0", "10e-1"] {
            check("{args.id}", &format!(r#"{{"id": {number}}}"#), Ok("1"));
        }
    }

    #[test]
    fn a_call_that_does_not_say_what_it_works_on_has_no_key() {
        let missing = || Err(Unfilled::Missing("id".into()));
        let unusable = || Err(Unfilled::Unusable("id".into()));
        for arguments in ["", "{}", r#"{"id": null}"#, "[]", "nonsense", r#"{"id": "#] {
            check("x:{args.id}", arguments, missing());
        }
        for arguments in [r#"{"id": ["a"]}"#, r#"{"id": ""}"#, r#"{"id": {"a": 1}}"#] {
            check("x:{args.id}", arguments, unusable());
        }
        check("x:{args.id.no}", r#"{"id": "a"}"#, Err(Unfilled::Missing("id.no".into())));
    }

    #[test]
    fn deep_nesting_neither_breaks_a_key_nor_a_fingerprint() {
        let deep = format!(r#"{{"deep": {}{}, "id": "a"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        check("{args.id}", &deep, Ok("a"));
        check("{args.deep}", &deep, Err(Unfilled::Unusable("deep".into())));
        assert_ne!(fingerprint("t", deep.as_bytes()), fingerprint("u", deep.as_bytes()));
    }

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let of = |text: &str| fingerprint("t", text.as_bytes());
        assert_eq!(of(r#"{"a": {"x": 1, "y": [1]}, "b": 2}"#), of(r#"{"b":2,"a":{"y":[1],"x":1}}"#));
        assert_eq!(of(""), of("{}"));
        assert_ne!(of(r#"{"a": 1}"#), of(r#"{"a": 2}"#));
        assert_ne!(of("{}"), fingerprint("u", b"{}"));
    }
}

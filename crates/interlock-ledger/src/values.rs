//! Values that agents send, checked while they are read: what has one of these types needs no second look.
//!
//! The words of a refusal go to a model, so they say what would have been right.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// The largest amount: what a JavaScript client can still count exactly.
const MOST: i64 = (1 << 53) - 1;

/// How long an id may be, in bytes. Every backend can index it, with a prefix of ours before it.
const LONGEST_ID: usize = 128;

/// How long a text may be, in bytes.
pub(crate) const LONGEST_TEXT: usize = 1024 * 1024;

/// A whole number of credits, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(i64);

/// What names an account, order, document or file: 1 to 128 bytes without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id(String);

/// An [`Id`] that is also the name of a file: no `/`, and no dot in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// A text of at most 1 MiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(String);

impl Amount {
    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl Id {
    /// An id, if the text can be one.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        let fits = (1..=LONGEST_ID).contains(&text.len()) && !text.contains(char::is_control);
        fits.then_some(Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Name {
    fn new(text: String) -> Option<Self> {
        let is_file = !text.contains(['/', '\\']) && !text.starts_with('.');
        Id::new(text).filter(|_| is_file).map(|Id(text)| Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let amount = value.as_i64().filter(|number| (1..=MOST).contains(number));
        amount.map(Self).ok_or_else(|| {
            let given = shortened(&value.to_string());
            D::Error::custom(format!("an amount is a whole number from 1 to {MOST}, and `{given}` is not"))
        })
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let given = shortened(&text);
        Self::new(text).ok_or_else(|| {
            D::Error::custom(format!(
                "an id has 1 to {LONGEST_ID} bytes and no control characters; `{given}` is none"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let given = shortened(&text);
        Self::new(text).ok_or_else(|| {
            D::Error::custom(format!(
                "a name has 1 to {LONGEST_ID} bytes, no slashes and control characters, and does not begin with a dot; \
                 `{given}` is none"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.len() {
            0..=LONGEST_TEXT => Ok(Self(text)),
            long => Err(D::Error::custom(format!(
                "a text has at most {LONGEST_TEXT} bytes, and this one has {long}"
            ))),
        }
    }
}

/// The beginning of what was given, so that an answer is not as long as a bad question.
fn shortened(text: &str) -> String {
    let mut short: String =
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Written in place, because agents read a plain schema more surely than one with references.
macro_rules! schema {
    ($type:ident, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema!(Amount, { "type": "integer", "minimum": 1, "maximum": MOST });
schema!(Id, { "type": "string", "minLength": 1, "maxLength": LONGEST_ID });
schema!(Name, { "type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": "^[^./\\\\][^/\\\\]*$" });
schema!(Text, { "type": "string", "maxLength": LONGEST_TEXT });

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reads<T: for<'de> Deserialize<'de>>(value: Value) -> bool {
        serde_json::from_value::<T>(value).is_ok()
    }

    #[test]
    fn an_amount_is_a_whole_number_of_at_least_one() {
        for good in [json!(1), json!(100), json!(MOST)] {
            assert!(reads::<Amount>(good.clone()), "{good}");
        }
        for bad in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!(u64::MAX),
            json!(MOST + 1),
            json!("1"),
            json!(null),
        ] {
            assert!(!reads::<Amount>(bad.clone()), "{bad}");
        }
    }

    #[test]
    fn a_name_stays_in_its_folder() {
        assert!(reads::<Name>(json!("summary 1.txt")));
        for bad in ["", "../x", "..", ".", ".hidden", "/etc/passwd", "a/b", "a\\b", "a\0b", "a\nb"] {
            assert!(!reads::<Name>(json!(bad)), "{bad:?}");
        }
    }

    #[test]
    fn an_id_and_a_text_have_a_length() {
        assert!(reads::<Id>(json!("x".repeat(128))) && !reads::<Id>(json!("x".repeat(10_000))));
        assert!(
            reads::<Text>(json!("x".repeat(LONGEST_TEXT)))
                && !reads::<Text>(json!("x".repeat(LONGEST_TEXT + 1)))
        );
    }

    #[test]
    fn the_words_of_a_refusal_are_short_and_say_what_is_right() {
        let words = serde_json::from_value::<Id>(json!("\u{1b}".repeat(10_000))).unwrap_err().to_string();
        assert!(words.len() < 400 && words.contains("128 bytes") && !words.contains('\u{1b}'), "{words}");
    }
}

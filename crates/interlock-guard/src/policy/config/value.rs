//! The values of a `guard.toml` as they are written: each knows where it stands.

use std::{fmt, ops::Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use toml::Spanned;

/// A value and where it stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct At<T>(Spanned<T>);

/// One text, or a list of them.
#[derive(Debug, Clone)]
pub(super) struct Words(pub(super) Vec<Word>);

/// A text of [`Words`]; one that stands alone has the place of the whole.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Option<Range<usize>>,
}

/// A number, or `"off"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Of(u32),
    Off,
}

macro_rules! texts {
    ($($(#[doc = $doc:literal])* $name:ident: $pattern:literal,)*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Deserialize)]
        #[serde(transparent)]
        pub(super) struct $name(pub(super) String);

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )*};
}

// Each pattern also takes a text with a variable in it, which an editor cannot fill in.
texts! {
    /// A time: `30s`.
    Time: r"^\d+(ms|s|min|h|d)$|\$\{",
    /// A size: `4MB`.
    Size: r"^\d+(B|KB|MB|GB)$|\$\{",
    /// A rate, or that there is none: `60/min`.
    RateText: r"^[1-9]\d*/(s|min|h|d)$|^off$|\$\{",
    /// `meta` or `args.NAME`.
    IdempotencyText: r"^meta$|^args\..+$|^off$|\$\{",
    /// The SHA-256 of a key, in hexadecimal digits.
    Digest: r"^[0-9a-fA-F]{64}$|\$\{",
}

/// Whether decisions are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum ModeText {
    Enforce,
    Observe,
}

impl<T> At<T> {
    pub(super) fn get(&self) -> &T {
        self.0.get_ref()
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl JsonSchema for Words {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Words, E> {
                Ok(Words(vec![Word { text: text.to_owned(), span: None }]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = list.next_element::<Spanned<String>>()? {
                    words.push(Word { span: Some(word.span()), text: word.into_inner() });
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": "off" }] })
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrOff;
        impl Visitor<'_> for NumberOrOff {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number from 1 to {}, or \"off\"", u32::MAX)
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Count, E> {
                match u32::try_from(number) {
                    Ok(number) if number > 0 => Ok(Count::Of(number)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Signed(number), &self)),
                }
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Count, E> {
                if text == "off" {
                    return Ok(Count::Off);
                }
                Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(NumberOrOff)
    }
}

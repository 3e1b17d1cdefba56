//! The template of a key: which calls belong together.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A key with holes for a call's arguments: `order:{args.orderId}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyTemplate(Vec<KeyPart>);

/// A part of a [`KeyTemplate`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeyPart {
    /// Text that stands as it is.
    Text(String),
    /// The value of an argument: names from the arguments' root inwards.
    Argument(Vec<String>),
}

/// Why a text is no key template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
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

impl KeyTemplate {
    /// A key that is the same for every call. Braces in it are text.
    #[must_use]
    pub fn fixed(text: &str) -> Self {
        Self(vec![KeyPart::Text(text.to_owned())])
    }

    /// What it names one of: `order` of `order:{args.orderId}`. Nothing for a key that is the same for every call, or of another form.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        match self.parts() {
            [KeyPart::Text(kind), KeyPart::Argument(_)] => Some(kind.trim_end_matches(':')),
            _ => None,
        }
    }

    /// The parts in order; no two texts follow each other.
    #[must_use]
    pub fn parts(&self) -> &[KeyPart] {
        &self.0
    }
}

impl FromStr for KeyTemplate {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unbalanced = || InvalidKey::Unbalanced(text.to_owned());
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let literal = rest.find(['{', '}']).unwrap_or(rest.len());
            let (before, after) = rest.split_at(literal);
            if !before.is_empty() {
                parts.push(KeyPart::Text(before.to_owned()));
            }
            rest = after;
            if let Some(hole) = after.strip_prefix('{') {
                let (inside, behind) = hole.split_once('}').ok_or_else(unbalanced)?;
                parts.push(argument(inside)?);
                rest = behind;
            } else if !after.is_empty() {
                return Err(unbalanced());
            }
        }
        if parts.is_empty() { Err(InvalidKey::Empty) } else { Ok(Self(parts)) }
    }
}

fn argument(inside: &str) -> Result<KeyPart, InvalidKey> {
    let names = inside.strip_prefix("args.").unwrap_or_default();
    let names: Vec<String> = names.split('.').map(str::to_owned).collect();
    if names.iter().any(|name| name.is_empty() || name.contains('{')) {
        return Err(InvalidKey::NotAnArgument(inside.to_owned()));
    }
    Ok(KeyPart::Argument(names))
}

impl fmt::Display for KeyTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            KeyPart::Text(text) => f.write_str(text),
            KeyPart::Argument(names) => write!(f, "{{args.{}}}", names.join(".")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_one_of_many_says_of_which() {
        let kind = |text: &str| text.parse::<KeyTemplate>().unwrap().kind().map(str::to_owned);
        assert_eq!(kind("order:{args.id}").as_deref(), Some("order"));
        assert_eq!((kind("order"), kind("{args.id}"), kind("{args.a}:{args.b}")), (None, None, None));
    }

    #[test]
    fn a_template_reads_back_as_it_was_written() {
        for text in ["graph", "order:{args.orderId}", "{args.a.b}/{args.c}", "{args.id}"] {
            assert_eq!(text.parse::<KeyTemplate>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_parts_tell_text_from_arguments() {
        let template: KeyTemplate = "file:{args.path.name}".parse().unwrap();
        let argument = KeyPart::Argument(vec!["path".into(), "name".into()]);
        assert_eq!(template.parts(), [KeyPart::Text("file:".into()), argument]);
    }

    #[test]
    fn a_template_that_could_not_be_filled_is_refused() {
        let refused = |text: &str| text.parse::<KeyTemplate>().unwrap_err();
        assert_eq!(refused(""), InvalidKey::Empty);
        assert_eq!(refused("order:{args.id"), InvalidKey::Unbalanced("order:{args.id".into()));
        assert_eq!(refused("order}"), InvalidKey::Unbalanced("order}".into()));
        assert_eq!(refused("{id}"), InvalidKey::NotAnArgument("id".into()));
        assert_eq!(refused("{args.}"), InvalidKey::NotAnArgument("args.".into()));
        assert_eq!(refused("{args.a..b}"), InvalidKey::NotAnArgument("args.a..b".into()));
        assert_eq!(refused("{args.{x}}"), InvalidKey::NotAnArgument("args.{x".into()));
    }
}

//! `${NAME}` and `${NAME:-default}` in texts. The environment arrives as an argument: only the binary reads it.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::problem::{Problem, Source};

/// The environment, as far as the binary hands it on.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

/// What keeps a text from being filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfilled {
    /// The variable is not set.
    #[error("the environment has no `{0}`; set it, or write `${{{0}:-DEFAULT}}`")]
    Missing(String),
    /// The hole never ends.
    #[error("`${{` has no `}}`; write `$${{` for the two characters themselves")]
    Open,
    /// The hole has no name that a variable could have.
    #[error("`${{{0}}}` names no variable; write `${{NAME}}`, or `$${{` for the two characters themselves")]
    NoName(String),
}

impl Environment {
    /// What a variable is set to.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// The names alone: what they are set to may be secret.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Fills in every text of a document. Values only: what an environment says can never become a key, a table or a comment.
pub(super) fn fill_table(
    table: &mut DeTable<'_>,
    with: &Environment,
    source: Source<'_>,
    out: &mut Vec<Problem>,
) {
    for (_, value) in table.iter_mut() {
        let span = value.span();
        match value.get_mut() {
            DeValue::String(text) => match fill(text, with) {
                Ok(filled) if filled == **text => {}
                Ok(filled) => *text = filled.into(),
                Err(error) => out.push(source.error(&span, error.to_string())),
            },
            DeValue::Array(list) => {
                for item in list.iter_mut() {
                    let span = item.span();
                    match item.get_mut() {
                        DeValue::String(text) => match fill(text, with) {
                            Ok(filled) => *text = filled.into(),
                            Err(error) => out.push(source.error(&span, error.to_string())),
                        },
                        DeValue::Table(inner) => fill_table(inner, with, source, out),
                        _ => {}
                    }
                }
            }
            DeValue::Table(inner) => fill_table(inner, with, source, out),
            _ => {}
        }
    }
}

/// Fills in one text. What is filled in is not looked at again.
pub(super) fn fill(text: &str, with: &Environment) -> Result<String, Unfilled> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        let (hole, behind) = after.split_once('}').ok_or(Unfilled::Open)?;
        let (name, default) = hole.split_once(":-").map_or((hole, None), |(name, text)| (name, Some(text)));
        if !is_name(name) {
            return Err(Unfilled::NoName(hole.to_owned()));
        }
        // As in a shell, an empty variable counts as one that is not set where there is a default.
        let value = with.get(name).filter(|value| default.is_none() || !value.is_empty()).or(default);
        out.push_str(before);
        out.push_str(value.ok_or_else(|| Unfilled::Missing(name.to_owned()))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        [("HOME", "/srv/x"), ("EMPTY", ""), ("TRICKY", "${HOME}\"\n[x]")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect()
    }

    #[test]
    fn holes_are_filled_once_and_the_rest_stays() {
        for (text, filled) in [
            ("", ""),
            ("plain $ and { and }", "plain $ and { and }"),
            ("${HOME}/data", "/srv/x/data"),
            ("a${HOME}b${HOME}", "a/srv/xb/srv/x"),
            ("${NONE:-default}", "default"),
            ("${NONE:-}", ""),
            ("${HOME:-default}", "/srv/x"),
            ("${EMPTY:-default}", "default"),
            ("<${EMPTY}>", "<>"),
            ("$${HOME}", "${HOME}"),
            ("${TRICKY}", "${HOME}\"\n[x]"),
            ("ä${HOME}ß", "ä/srv/xß"),
        ] {
            assert_eq!(fill(text, &environment()).as_deref(), Ok(filled), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_said() {
        let said = |text: &str| fill(text, &environment()).unwrap_err().to_string();
        assert_eq!(said("${NONE}"), "the environment has no `NONE`; set it, or write `${NONE:-DEFAULT}`");
        assert_eq!(said("x${HOME"), "`${` has no `}`; write `$${` for the two characters themselves");
        assert_eq!(
            said("${}"),
            "`${}` names no variable; write `${NAME}`, or `$${` for the two characters themselves"
        );
        assert!(said("${a b}").contains("names no variable"));
    }

    #[test]
    fn what_the_environment_says_is_not_shown_in_debug_output() {
        assert_eq!(format!("{:?}", environment()), r#"{"EMPTY", "HOME", "TRICKY"}"#);
    }
}

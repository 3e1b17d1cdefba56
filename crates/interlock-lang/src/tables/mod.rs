//! What a language says in tables besides the effects of its libraries: how tools are registered (`sdk.toml`), what the language itself
//! offers (`builtins.toml`) and which words hint at what (`lexicon.toml`). Users write the same tables into `interlock.toml`; what they add
//! is added to the lists, and what they say of a name wins over what was said of it.

mod builtin;
mod lexicon;
mod sdk;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

pub(crate) use self::{
    builtin::{Builtins, Collection, Does, Gives, Makes},
    lexicon::Lexicon,
    sdk::{Begins, Call, Registers, Remakes, Sdk},
};

/// Words to look up.
pub(crate) type Words = FxHashSet<String>;

/// What libraries, by name, say of what they export; `*` is all of it. The language itself has the empty name.
pub(crate) type Exports<T> = FxHashMap<String, FxHashMap<String, T>>;

/// The tables of a language.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// As they were read, to add to.
    raw: toml::Table,
    read: Read,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Read {
    tools: Sdk,
    builtin: Builtins,
    lexicon: Lexicon,
}

impl Tables {
    /// Reads the texts of a language's files.
    ///
    /// # Errors
    /// With what is wrong and where.
    pub fn parse(texts: &[&str]) -> Result<Self, toml::de::Error> {
        let mut raw = toml::Table::new();
        for text in texts {
            merge(&mut raw, text.parse()?);
        }
        Self::default().extended(raw)
    }

    /// These and more.
    ///
    /// # Errors
    /// With what is wrong and where.
    pub(crate) fn extended(&self, more: toml::Table) -> Result<Self, toml::de::Error> {
        let mut raw = self.raw.clone();
        merge(&mut raw, more);
        let read = Read::deserialize(raw.clone())?;
        Ok(Self { raw, read })
    }

    /// How tools are registered.
    pub(crate) const fn sdk(&self) -> &Sdk {
        &self.read.tools
    }

    /// What the language itself offers.
    pub(crate) const fn builtin(&self) -> &Builtins {
        &self.read.builtin
    }

    /// Which words hint at what.
    pub(crate) const fn lexicon(&self) -> &Lexicon {
        &self.read.lexicon
    }
}

/// Adds one table to another: lists grow, tables are added to each other, everything else is replaced.
fn merge(into: &mut toml::Table, more: toml::Table) {
    use toml::{Value, map::Entry};
    for (key, value) in more {
        match into.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(mut entry) => match (entry.get_mut(), value) {
                (Value::Table(known), Value::Table(more)) => merge(known, more),
                (Value::Array(known), Value::Array(more)) => known.extend(more),
                (known, value) => *known = value,
            },
        }
    }
}

/// What is said of an export of a library.
pub(crate) fn export<'t, T>(exports: &'t Exports<T>, library: &str, path: &str) -> Option<&'t T> {
    let known = exports.get(library)?;
    known.get(path).or_else(|| known.get("*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_adds_is_added_and_what_a_user_says_wins() {
        let own = Tables::parse(&[
            "[tools]\nlibraries = [\"a\"]\n[tools.decorator]\nTool = \"tool\"",
            "[lexicon]\ncommon_methods = [\"get\"]",
        ])
        .unwrap();
        let more = "[tools]\nlibraries = [\"b\"]\n[tools.decorator]\nTool = \"entry\"\nCommand = \"tool\""
            .parse()
            .unwrap();
        let both = own.extended(more).unwrap();
        assert_eq!(both.sdk().libraries, ["a", "b"]);
        assert_eq!(both.sdk().decorator.get("Tool"), Some(&Registers::Entry));
        assert_eq!(both.sdk().decorator.get("Command"), Some(&Registers::Tool));
        assert!(both.lexicon().common_methods.contains("get"));
    }

    #[test]
    fn a_table_that_is_not_right_is_named() {
        let error = Tables::parse(&["[tools.decorator]\nTool = \"tol\""]).unwrap_err();
        assert!(error.to_string().contains("tol"), "{error}");
        assert!(Tables::parse(&["[tools]\nlibrarys = []"]).is_err());
    }
}

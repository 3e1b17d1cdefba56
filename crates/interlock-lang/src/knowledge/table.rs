//! Entries by name. Those of our own files are read when somebody asks for the first of them: a server uses few of the libraries, and
//! reading all of them would take longer than the rest of its scan.

use std::{collections::BTreeMap, sync::OnceLock};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{InvalidKnowledge, format::Entry};

type Entries = FxHashMap<String, Vec<Entry>>;

/// The entries of one table of an effects file.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// What is read when it is asked for; what a later text says wins over what was there.
    texts: Vec<&'static str>,
    read: OnceLock<Entries>,
}

impl Table {
    /// Adds what is read later. What is not right says nothing then; a test reads all of ours.
    pub(super) fn later(&mut self, text: &'static str) {
        self.texts.push(text);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Vec<Entry>> {
        self.all().get(name)
    }

    /// The entry for all names that begin as this one does: `get_*`. The longest beginning counts.
    pub(super) fn get_by_start(&self, name: &str) -> Option<&Vec<Entry>> {
        let begins = |key: &str| key.strip_suffix('*').is_some_and(|start| name.starts_with(start));
        let found = self.all().iter().filter(|(key, _)| begins(key)).max_by_key(|(key, _)| key.len());
        found.map(|(_, entries)| entries)
    }

    pub(super) fn all(&self) -> &Entries {
        self.read.get_or_init(|| {
            let mut all = Entries::default();
            for text in &self.texts {
                let texts = toml::from_str(text).unwrap_or_default();
                let added = entries("", texts, &all).unwrap_or_default();
                all.extend(added);
            }
            all
        })
    }

    /// Adds more, which wins over what was there.
    pub(super) fn extend(
        &mut self,
        place: &str,
        texts: BTreeMap<String, toml::Value>,
    ) -> Result<(), InvalidKnowledge> {
        let added = entries(place, texts, self.all())?;
        if let Some(known) = self.read.get_mut() {
            known.extend(added);
        }
        Ok(())
    }
}

/// An effects file in two parts.
#[derive(Default)]
pub(super) struct Split {
    /// What is read at once.
    pub(super) now: String,
    /// The tables of entries that are read later, each with the name of the table.
    pub(super) later: Vec<(&'static str, &'static str)>,
}

impl Split {
    /// Takes a file apart at the lines that begin a table.
    pub(super) fn of(text: &'static str) -> Self {
        let mut split = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find("\n[").map_or(rest.len(), |end| end + 1);
            let (part, behind) = rest.split_at(end);
            rest = behind;
            let (first, body) = part.split_once('\n').unwrap_or((part, ""));
            let name = first.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            match name.filter(|name| name.ends_with(".exports") || name.ends_with(".methods")) {
                Some(name) => split.later.push((name, body)),
                None => split.now.push_str(part),
            }
        }
        split
    }
}

/// Reads entries. Text instead of an entry is the name of another one: here, or of what was there before.
fn entries(
    place: &str,
    texts: BTreeMap<String, toml::Value>,
    before: &Entries,
) -> Result<Entries, InvalidKnowledge> {
    let invalid = |name: &str, error: &dyn std::fmt::Display| {
        InvalidKnowledge(format!("{place}.{name}: {}", error.to_string().trim()))
    };
    let mut found = Entries::default();
    let mut others = vec![];
    for (name, text) in texts {
        let read = |text: toml::Value| Entry::deserialize(text).map_err(|error| invalid(&name, &error));
        let list = match text {
            toml::Value::String(other) => {
                others.push((name, other));
                continue;
            }
            toml::Value::Array(list) => list.into_iter().map(read).collect::<Result<Vec<_>, _>>()?,
            one => vec![read(one)?],
        };
        found.insert(name, list);
    }
    for (name, other) in others {
        let same = found.get(&other).or_else(|| before.get(&other)).cloned();
        let missing = || invalid(&name, &format!("there is no {other:?} to be the same as"));
        let same = same.ok_or_else(missing)?;
        found.insert(name, same);
    }
    Ok(found)
}

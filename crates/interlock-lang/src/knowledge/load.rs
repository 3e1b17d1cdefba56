//! From the text of an effects file to what is looked up.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{
    InvalidKnowledge, Knowledge, Library,
    format::{Entry, File, KindText, LibraryText},
};

impl Knowledge {
    pub(super) fn load(&mut self, text: &str) -> Result<(), InvalidKnowledge> {
        let file: File = toml::from_str(text).map_err(|error| InvalidKnowledge(error.to_string()))?;
        for (name, library) in file.library {
            self.add_library(&name, library)?;
        }
        for (name, kind) in file.kind {
            self.add_kind(&name, kind)?;
        }
        self.names.extend(file.unknown.names);
        self.members.extend(file.unknown.members);
        self.unknown.extend(entries("unknown.methods", file.unknown.methods, &self.unknown)?);
        self.check()
    }

    fn add_library(&mut self, name: &str, text: LibraryText) -> Result<(), InvalidKnowledge> {
        for also in text.also {
            self.aliases.insert(also, name.to_owned());
        }
        let library = self.libraries.entry(name.to_owned()).or_default();
        library.like = text.like.or(library.like.take());
        library.callbacks |= text.callbacks;
        library.sync = text.sync.or(library.sync.take());
        library.inside.extend(text.inside);
        library.types.extend(text.types);
        let added = entries(&format!("library.{name:?}.exports"), text.exports, &library.exports)?;
        library.exports.extend(added);
        Ok(())
    }

    fn add_kind(&mut self, name: &str, text: KindText) -> Result<(), InvalidKnowledge> {
        let kind = self.kinds.entry(name.to_owned()).or_default();
        let added = entries(&format!("kind.{name:?}.methods"), text.methods, &kind.methods)?;
        kind.methods.extend(added);
        kind.like = text.like.or(kind.like.take());
        kind.via = text.via.or(kind.via);
        kind.engine = text.engine.or(kind.engine);
        kind.lock = text.lock.or(kind.lock);
        kind.limiter = text.limiter.or(kind.limiter);
        kind.callbacks = text.callbacks.or(kind.callbacks);
        kind.lazy = text.lazy.or(kind.lazy);
        kind.transparent = text.transparent.or(kind.transparent);
        kind.mode = text.mode.or(kind.mode);
        kind.rows = text.rows.or(kind.rows.take());
        kind.found_by = text.found_by.or(kind.found_by.take());
        kind.connection.extend(text.connection);
        kind.members.extend(text.members);
        kind.clauses.extend(text.clauses);
        kind.ends.extend(text.ends);
        Ok(())
    }

    /// Whether every kind and library that is named is there.
    fn check(&self) -> Result<(), InvalidKnowledge> {
        let missing = |place: String, kind: &str| {
            let known = self.kinds.contains_key(kind);
            if known { Ok(()) } else { Err(InvalidKnowledge(format!("{place}: there is no kind {kind:?}"))) }
        };
        let entries_name = |place: String, entries: &[Entry]| -> Result<(), InvalidKnowledge> {
            for entry in entries.iter().flat_map(|entry| std::iter::once(entry).chain(&entry.also)) {
                for kind in entry.result.iter().chain(&entry.gives).filter(|kind| *kind != "self") {
                    missing(place.clone(), kind)?;
                }
            }
            Ok(())
        };
        for (name, library) in &self.libraries {
            for (export, entries) in &library.exports {
                entries_name(format!("library.{name:?}.exports.{export}"), entries)?;
            }
            for (export, kind) in &library.types {
                missing(format!("library.{name:?}.types.{export}"), kind)?;
            }
            for other in library.like.iter().chain(library.inside.values()) {
                if !self.knows(other) {
                    let text = format!("library.{name:?}: there is no library {other:?}");
                    return Err(InvalidKnowledge(text));
                }
            }
        }
        for (name, kind) in &self.kinds {
            for (method, entries) in &kind.methods {
                entries_name(format!("kind.{name:?}.methods.{method:?}"), entries)?;
            }
            let others = kind
                .like
                .iter()
                .chain(&kind.rows)
                .chain(&kind.found_by)
                .chain(kind.members.values().map(|member| &member.kind));
            for other in others {
                missing(format!("kind.{name:?}"), other)?;
            }
        }
        for (name, kind) in &self.names {
            missing(format!("unknown.names.{name}"), kind)?;
        }
        for (name, kind) in &self.members {
            missing(format!("unknown.members.{name}"), kind)?;
        }
        Ok(())
    }
}

impl Library {
    /// An export's entries, its own or those of a library that it is like.
    pub(super) fn entries<'k>(&'k self, knowledge: &'k Knowledge, path: &str) -> Option<&'k [Entry]> {
        let mut library = self;
        // As many as there are libraries would be a circle.
        for _ in 0..knowledge.libraries.len() {
            if let Some(entries) = library.exports.get(path) {
                return Some(entries);
            }
            library = knowledge.libraries.get(library.like.as_ref()?)?;
        }
        None
    }
}

/// Reads entries. Text instead of an entry is the name of another one: here, or of what was there before.
fn entries(
    place: &str,
    texts: BTreeMap<String, toml::Value>,
    before: &FxHashMap<String, Vec<Entry>>,
) -> Result<FxHashMap<String, Vec<Entry>>, InvalidKnowledge> {
    let invalid = |name: &str, error: &dyn std::fmt::Display| {
        InvalidKnowledge(format!("{place}.{name}: {}", error.to_string().trim()))
    };
    let mut found = FxHashMap::default();
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

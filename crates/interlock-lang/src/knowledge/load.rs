//! From the text of an effects file to what is looked up.

use std::collections::BTreeMap;

use super::{
    InvalidKnowledge, Knowledge, Library,
    format::{Entry, File, KindText, LibraryText},
    table::{Split, Table},
};

/// The name of what is said of all exports, methods and libraries of which nothing else is.
pub(super) const ANY: &str = "*";

impl Knowledge {
    pub(super) fn load(&mut self, text: &str) -> Result<(), InvalidKnowledge> {
        self.add(text)?;
        self.check()
    }

    /// The same of one of our own files: what its calls do is read when somebody asks for it, and nothing is checked.
    pub(super) fn load_later(&mut self, text: &'static str) -> Result<(), InvalidKnowledge> {
        let Split { now, later } = Split::of(text);
        self.add(&now)?;
        for (name, text) in later {
            let of = |start: &str, end: &str| {
                let name = name.strip_prefix(start)?.strip_suffix(end)?;
                Some(name.trim_matches('"').to_owned())
            };
            if let Some(library) = of("library.", ".exports") {
                self.libraries.entry(library).or_default().exports.later(text);
            } else if let Some(kind) = of("kind.", ".methods") {
                self.kinds.entry(kind).or_default().methods.later(text);
            } else {
                self.unknown.later(text);
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<(), InvalidKnowledge> {
        let file: File = toml::from_str(text).map_err(|error| InvalidKnowledge(error.to_string()))?;
        for (name, library) in file.library {
            self.add_library(&name, library)?;
        }
        for (name, kind) in file.kind {
            self.add_kind(&name, kind)?;
        }
        let tables = [("tools", file.tools), ("builtin", file.builtin), ("lexicon", file.lexicon)];
        let tables = tables.into_iter().filter(|(_, table)| !table.is_empty());
        let tables: toml::Table = tables.map(|(name, table)| (name.to_owned(), table.into())).collect();
        if !tables.is_empty() {
            let extended = self.tables.extended(tables);
            self.tables = extended.map_err(|error| InvalidKnowledge(error.to_string()))?;
        }
        self.names.extend(file.unknown.names);
        self.members.extend(file.unknown.members);
        self.parameters.extend(file.unknown.parameters);
        self.probable_libraries.extend(file.unknown.libraries);
        extend(&mut self.unknown, || "unknown.methods".to_owned(), file.unknown.methods)
    }

    fn add_library(&mut self, name: &str, text: LibraryText) -> Result<(), InvalidKnowledge> {
        for also in text.also {
            match also.strip_suffix(ANY) {
                Some(start) => self.families.push((start.to_owned(), name.to_owned())),
                None => _ = self.aliases.insert(also, name.to_owned()),
            }
        }
        let library = self.libraries.entry(name.to_owned()).or_default();
        library.like = text.like.or(library.like.take());
        library.callbacks |= text.callbacks;
        library.sync = text.sync.or(library.sync.take());
        library.engine = text.engine.or(library.engine);
        library.inside.extend(text.inside);
        library.types.extend(text.types);
        extend(&mut library.exports, || format!("library.{name:?}.exports"), text.exports)
    }

    fn add_kind(&mut self, name: &str, text: KindText) -> Result<(), InvalidKnowledge> {
        let kind = self.kinds.entry(name.to_owned()).or_default();
        extend(&mut kind.methods, || format!("kind.{name:?}.methods"), text.methods)?;
        kind.like = text.like.or(kind.like.take());
        kind.via = text.via.or(kind.via);
        kind.engine = text.engine.or(kind.engine);
        kind.lock = text.lock.or(kind.lock);
        kind.limiter = text.limiter.or(kind.limiter);
        kind.callbacks = text.callbacks.or(kind.callbacks);
        kind.lazy = text.lazy.or(kind.lazy);
        kind.only_ends = text.only_ends.or(kind.only_ends);
        kind.transparent = text.transparent.or(kind.transparent);
        kind.mode = text.mode.or(kind.mode);
        kind.rows = text.rows.or(kind.rows.take());
        kind.below = text.below.or(kind.below);
        kind.path = text.path.or(kind.path);
        kind.items = text.items.or(kind.items.take());
        kind.found_by = text.found_by.or(kind.found_by.take());
        kind.versioned = text.versioned.or(kind.versioned.take());
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
            for (export, entries) in library.exports.all() {
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
            for (method, entries) in kind.methods.all() {
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
        for (name, kind) in &self.parameters {
            missing(format!("unknown.parameters.{name}"), kind)?;
        }
        for (name, library) in &self.probable_libraries {
            if !self.knows(library) {
                let text = format!("unknown.libraries.{name}: there is no library {library:?}");
                return Err(InvalidKnowledge(text));
            }
        }
        for (name, kind) in &self.members {
            missing(format!("unknown.members.{name}"), kind)?;
        }
        Ok(())
    }
}

impl Library {
    /// An export's entries, its own or those of a library that it is like; else those of all exports that begin as it does.
    pub(super) fn entries<'k>(&'k self, knowledge: &'k Knowledge, path: &str) -> Option<&'k [Entry]> {
        let mut library = self;
        // As many as there are libraries would be a circle.
        for _ in 0..knowledge.libraries.len() {
            if let Some(entries) = library.exports.get(path) {
                return Some(entries);
            }
            let Some(like) = library.like.as_ref().and_then(|like| knowledge.libraries.get(like)) else {
                break;
            };
            library = like;
        }
        self.exports.get_by_start(path).map(Vec::as_slice)
    }

    /// The entries of an export of which nothing is said but what all of them have in common.
    pub(super) fn common<'k>(&'k self, knowledge: &'k Knowledge) -> Option<&'k [Entry]> {
        self.entries(knowledge, ANY)
    }
}

/// Adds entries to a table. One that gets none need not be read.
fn extend(
    table: &mut Table,
    place: impl FnOnce() -> String,
    texts: BTreeMap<String, toml::Value>,
) -> Result<(), InvalidKnowledge> {
    if texts.is_empty() { Ok(()) } else { table.extend(&place(), texts) }
}

//! What libraries do, as data: `effects.toml` of each language, and the user's own models on top.
//!
//! `format` is the file's form, `load` reads it and `table` what is in it of calls; `place` finds the parts of a call that an entry speaks of; `apply` finds the entry
//! and `act` writes its steps down, with `files`, `rows` and `guard` for files, statements, and locks and transactions. Statements on rows come from SQL (`sql`), from objects
//! (`filter`) or from chains of calls (`chain`); all become a `statement`. Where a store has paths, `path` says which row is meant.

mod format;
mod load;
mod object;
mod place;
mod table;

mod apply;
mod scene;

mod act;
mod command;
mod files;
mod guard;
mod rows;

mod chain;
mod filter;
mod identity;
mod isolation;
mod path;
mod service;
mod sql;
mod statement;
mod typed;

#[cfg(test)]
mod tests;

use interlock_model::ir::{AccessPath, Body, Field, Name, Root};
use rustc_hash::FxHashMap;

use crate::{Call, Frontend, Kind, Outcome, Tables};

pub use format::Engine;
pub(crate) use service::{Verb, verb_of, words};
pub use sql::{Seen, tables_of};

/// How an object's method is called that reads an entry.
const ENTRY: &str = "__getitem__";

/// What is known of libraries.
#[derive(Debug, Default)]
pub struct Knowledge {
    libraries: FxHashMap<String, Library>,
    /// Other names of libraries.
    aliases: FxHashMap<String, String>,
    /// The libraries that stand for all whose names begin so: `@aws-sdk/client-`.
    families: Vec<(String, String)>,
    kinds: FxHashMap<String, object::Definition>,
    /// What objects probably are that go by a name.
    names: FxHashMap<String, String>,
    /// The same of what functions are handed.
    parameters: FxHashMap<String, String>,
    /// The libraries that are probably meant by a name.
    probable_libraries: FxHashMap<String, String>,
    /// What members probably are whose names are written as those of constants, by the name of what they are members of.
    members: FxHashMap<String, String>,
    /// Methods of objects of which nothing is known.
    unknown: table::Table,
    /// What is no effect of a library; empty where no language has given any.
    tables: Tables,
}

/// A library, as it was read.
#[derive(Debug, Default)]
struct Library {
    like: Option<String>,
    callbacks: bool,
    sync: Option<String>,
    engine: Option<Engine>,
    inside: FxHashMap<String, String>,
    types: FxHashMap<String, String>,
    exports: table::Table,
}

/// Why a text is no knowledge.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidKnowledge(pub String);

impl Knowledge {
    /// Reads the text of an effects file.
    ///
    /// # Errors
    /// With what is wrong and in which entry.
    pub fn parse(text: &str) -> Result<Self, InvalidKnowledge> {
        let mut knowledge = Self::default();
        knowledge.load(text)?;
        Ok(knowledge)
    }

    /// What a language knows: the effects of libraries, read when somebody asks for them, and its other tables.
    ///
    /// # Errors
    /// With what is wrong and in which entry, as far as it is read.
    pub fn of(language: &dyn Frontend) -> Result<Self, InvalidKnowledge> {
        let mut knowledge = Self { tables: language.tables().clone(), ..Self::default() };
        knowledge.load_later(language.effects())?;
        Ok(knowledge)
    }

    /// What is no effect of a library: how tools are registered, what the language offers, which words hint at what.
    pub(crate) const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The same of the file of a front end, which tests have read: what its calls do is only read when somebody asks for it.
    ///
    /// # Errors
    /// With what is wrong and in which entry, as far as it is read.
    pub fn read_later(text: &'static str) -> Result<Self, InvalidKnowledge> {
        let mut knowledge = Self::default();
        knowledge.load_later(text)?;
        Ok(knowledge)
    }

    /// Adds more, which wins over what was there.
    ///
    /// # Errors
    /// With what is wrong and in which entry.
    pub fn extend(&mut self, text: &str) -> Result<(), InvalidKnowledge> {
        self.load(text)
    }

    /// Whether anything is known of a library, so that its exports are worth following.
    #[must_use]
    pub fn knows(&self, library: &str) -> bool {
        self.library(library).is_some()
    }

    /// Whether objects of a kind have entries that the library keeps: `shelf[name]`.
    pub(crate) fn keeps_entries(&self, kind: &str) -> bool {
        self.object(kind).is_some_and(|object| object.method(ENTRY).is_some())
    }

    /// Whether any object that a library makes has such entries.
    pub(crate) fn may_keep_entries(&self, library: &str) -> bool {
        let Some(library) = self.library(library) else { return false };
        let made = library.exports.all().values().flatten().filter_map(|entry| entry.result.as_deref());
        made.chain(library.types.values().map(String::as_str)).any(|kind| self.keeps_entries(kind))
    }

    /// What is made where something of a kind is constructed: the row of a model.
    pub(crate) fn made_of(&self, kind: &str) -> Option<Name> {
        let made = self.object(kind)?.method("new")?.iter().find_map(|entry| entry.result.as_deref());
        made.map(Name::from)
    }

    /// What an export is without being called: a type that a parameter is declared with, a ready-made client.
    #[must_use]
    pub fn kind(&self, library: &str, path: &str) -> Option<Kind> {
        let library = self.library(library)?;
        if let Some(name) = library.types.get(path) {
            return Some(Kind::named(name));
        }
        if let Some((inside, rest)) = path.split_once('.')
            && let Some(other) = library.inside.get(inside)
        {
            return self.kind(other, rest);
        }
        // Of all that a library exports only what is called so is a client.
        let is_client = || path.to_lowercase().ends_with("client");
        let entries = library.entries(self, path);
        let entries = entries.or_else(|| library.common(self).filter(|_| is_client()))?;
        entries.iter().find_map(|entry| entry.result.as_deref()).map(Kind::named)
    }

    /// What a member of an object is: the model of `prisma.user`, where the object is at `receiver`.
    #[must_use]
    pub fn member(&self, kind: &Kind, receiver: &AccessPath, name: &str) -> Option<Kind> {
        let object = self.object(&kind.name)?;
        let member = object.member(name)?;
        let subject = if member.named { Some(name.into()) } else { kind.subject.clone() };
        let via = object.way(receiver).or_else(|| kind.via.clone());
        Some(Kind { name: member.kind.as_str().into(), subject, via, made: vec![], guessed: kind.guessed })
    }

    /// What an entry of a list is that a library gives: `queue.getFailed()`, `folder.glob("*.md")`.
    pub(crate) fn entry_of(&self, list: &Kind) -> Option<Kind> {
        let name = self.object(&list.name)?.items()?;
        Some(Kind { name: name.into(), made: vec![], ..list.clone() })
    }

    /// Whether an object bounds what one caller may do: a rate limiter in front of the handlers.
    #[must_use]
    pub fn is_limiter(&self, kind: &Kind) -> bool {
        self.object(&kind.name).is_some_and(|object| object.is_limiter())
    }

    /// Writes down what a call does, and says what comes out of it; `None`, and nothing written, if the call is not known.
    pub fn apply(&self, call: &Call<'_>, body: &mut Body<'_>) -> Option<Outcome> {
        body.span(call.span);
        apply::apply(self, call, body)
    }

    /// What objects probably are that go by a name, in whatever case.
    fn probably(&self, name: &str) -> Option<&String> {
        let is_lower = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        if is_lower { self.names.get(name) } else { self.names.get(&name.to_lowercase()) }
    }

    /// What an object probably is that a function is handed under a name. Of a name that connections share with their transactions nothing
    /// is said.
    fn probable_parameter(&self, name: &str) -> Option<&String> {
        self.parameters.get(&name.to_lowercase())
    }

    /// The library whose exports something probably has that goes by a name.
    fn probable_library(&self, name: &str) -> Option<&str> {
        self.probable_libraries.get(&name.to_lowercase()).map(String::as_str)
    }

    /// Whether a call of something of which nothing is known may be understood: by the method, or by a name on the way to it.
    #[must_use]
    pub(crate) fn may_guess(&self, receiver: &AccessPath, name: &str) -> bool {
        let goes_by = |name: &str| self.probably(name).is_some() || self.probable_library(name).is_some();
        let root = match &receiver.root {
            Root::Global(name) => name.rsplit("::").next(),
            _ => None,
        };
        let fields = receiver.fields.iter().filter_map(|field| match field {
            Field::Name(name) => Some(&**name),
            Field::At(_) => None,
        });
        self.unknown.get(name).is_some() || root.into_iter().chain(fields).any(goes_by)
    }

    /// What a member is whose name is written as that of a constant, by the name of what it is a member of: `env.NOTES`.
    fn bound(&self, name: &str, of: impl FnOnce() -> Option<String>) -> Option<&String> {
        let is_constant = name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
        if is_constant { self.members.get(&of()?) } else { None }
    }

    /// What a program speaks to that imports these, if all of its drivers are of one kind.
    pub(crate) fn engine_of<'n>(&self, libraries: impl IntoIterator<Item = &'n Name>) -> Option<Engine> {
        let mut engines = libraries.into_iter().filter_map(|name| self.library(name)?.engine);
        let one = engines.next()?;
        engines.all(|engine| engine == one).then_some(one)
    }

    fn library(&self, name: &str) -> Option<&Library> {
        let by =
            |name: &str| self.libraries.get(name).or_else(|| self.libraries.get(self.aliases.get(name)?));
        let family = || self.families.iter().find(|(start, _)| name.starts_with(start.as_str()));
        by(name).or_else(|| by(&family()?.1))
    }
}

//! What is known of a type of objects, its own and what it has from others.

use interlock_model::ir::{AccessPath, LockKind, Via};
use rustc_hash::FxHashMap;

use super::{
    Knowledge,
    format::{Clause, Engine, Entry, Holders, MemberText, Mode, PathForm, Way},
    table::Table,
};

/// How far a type is followed to those that it is like.
const DEEPEST: usize = 8;

/// A type of objects, as it was read.
#[derive(Debug, Default)]
pub(super) struct Definition {
    pub(super) like: Option<String>,
    pub(super) via: Option<Way>,
    pub(super) connection: Vec<String>,
    pub(super) engine: Option<Engine>,
    pub(super) lock: Option<Holders>,
    pub(super) limiter: Option<bool>,
    pub(super) callbacks: Option<bool>,
    pub(super) lazy: Option<bool>,
    pub(super) only_ends: Option<bool>,
    pub(super) transparent: Option<bool>,
    pub(super) mode: Option<Mode>,
    pub(super) methods: Table,
    pub(super) members: FxHashMap<String, MemberText>,
    pub(super) clauses: FxHashMap<String, Clause>,
    pub(super) ends: Vec<String>,
    pub(super) rows: Option<String>,
    pub(super) below: Option<bool>,
    pub(super) path: Option<PathForm>,
    pub(super) items: Option<String>,
    pub(super) found_by: Option<String>,
    pub(super) versioned: Option<String>,
}

/// A type and those that it is like, nearest first.
#[derive(Debug, Clone)]
pub(super) struct Object<'k>(Vec<&'k Definition>);

impl Knowledge {
    /// What is known of a type.
    pub(super) fn object(&self, name: &str) -> Option<Object<'_>> {
        let mut found = vec![];
        let mut next = Some(name);
        while let Some(definition) = next.and_then(|name| self.kinds.get(name))
            && found.len() < DEEPEST
        {
            found.push(definition);
            next = definition.like.as_deref();
        }
        (!found.is_empty()).then_some(Object(found))
    }
}

impl<'k> Object<'k> {
    fn first<T>(&self, what: impl Fn(&'k Definition) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|definition| what(definition))
    }

    pub(super) fn engine(&self) -> Option<Engine> {
        self.first(|definition| definition.engine)
    }

    pub(super) fn holders(&self) -> Option<Holders> {
        self.first(|definition| definition.lock)
    }

    pub(super) fn lock_kind(&self) -> Option<LockKind> {
        self.holders().map(Holders::kind)
    }

    pub(super) fn is_limiter(&self) -> bool {
        self.first(|definition| definition.limiter).unwrap_or(false)
    }

    pub(super) fn takes_callbacks(&self) -> bool {
        self.first(|definition| definition.callbacks).unwrap_or(false)
    }

    pub(super) fn is_lazy(&self) -> bool {
        self.first(|definition| definition.lazy).unwrap_or(false)
    }

    /// Whether a statement runs only where one of its ends is called.
    pub(super) fn runs_at_its_end(&self) -> bool {
        self.first(|definition| definition.only_ends).unwrap_or(false)
    }

    pub(super) fn transparent(&self) -> bool {
        self.first(|definition| definition.transparent).unwrap_or(false)
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        self.first(|definition| definition.mode)
    }

    pub(super) fn rows(&self) -> Option<&'k str> {
        self.first(|definition| definition.rows.as_deref())
    }

    pub(super) fn is_below(&self) -> bool {
        self.first(|definition| definition.below).unwrap_or(false)
    }

    /// How the path that it stands for names a row.
    pub(super) fn path(&self) -> Option<PathForm> {
        self.first(|definition| definition.path)
    }

    pub(super) fn items(&self) -> Option<&'k str> {
        self.first(|definition| definition.items.as_deref())
    }

    pub(super) fn found_by(&self) -> Option<&'k str> {
        self.first(|definition| definition.found_by.as_deref())
    }

    pub(super) fn versioned(&self) -> Option<&'k str> {
        self.first(|definition| definition.versioned.as_deref())
    }

    pub(super) fn connection(&self) -> &'k [String] {
        self.first(|definition| Some(definition.connection.as_slice()).filter(|names| !names.is_empty()))
            .unwrap_or_default()
    }

    /// Which way statements go that are sent through the object at a place.
    pub(super) fn way(&self, receiver: &AccessPath) -> Option<Via> {
        self.first(|definition| definition.via).and_then(|way| match way {
            Way::Client => Some(Via::Client(receiver.clone())),
            Way::Pool => Some(Via::Pool(receiver.clone())),
            Way::Handed => None,
        })
    }

    /// The same where it is not known what the object came from.
    pub(super) fn own_way(&self, receiver: &AccessPath) -> Option<Via> {
        let way = self.first(|definition| definition.via);
        (way == Some(Way::Handed)).then(|| Via::Client(receiver.clone()))
    }

    /// Whether statements go over it.
    pub(super) fn is_connection(&self) -> bool {
        self.first(|definition| definition.via).is_some_and(|way| way != Way::Handed)
    }

    /// What a method does: by its own name, else by the end of a longer one, else by how it begins.
    pub(super) fn method(&self, name: &str) -> Option<&'k [Entry]> {
        let by = |name: &str| self.first(|definition| definition.methods.get(name)).map(Vec::as_slice);
        let by_start = || self.first(|definition| definition.methods.get_by_start(name)).map(Vec::as_slice);
        let end = || by(&format!("*.{}", name.rsplit_once('.')?.1));
        // A name of the protocol of the language is no business of the library: `__enter__`, `new`, a call of the object.
        let is_plain = !name.is_empty() && name != "new" && !name.starts_with("__");
        by(name).or_else(end).or_else(|| by_start().filter(|_| is_plain))
    }

    /// What a member is.
    pub(super) fn member(&self, name: &str) -> Option<&'k MemberText> {
        let by = |name: &str| self.first(|definition| definition.members.get(name));
        by(name).or_else(|| by("*"))
    }

    /// What a call says about the statement that is put together.
    pub(super) fn clause(&self, name: &str) -> Option<Clause> {
        self.first(|definition| definition.clauses.get(name)).copied()
    }

    /// Whether a statement is put together by its methods.
    pub(super) fn is_statement(&self) -> bool {
        self.0.iter().any(|definition| !definition.clauses.is_empty())
    }

    /// Whether a call of the method runs the statement at once.
    pub(super) fn ends_with(&self, name: &str) -> bool {
        self.0.iter().any(|definition| definition.ends.iter().any(|end| end == name))
    }
}

impl Holders {
    pub(super) fn kind(self) -> LockKind {
        match self {
            Self::Mutex => LockKind::Mutex,
            Self::Semaphore => LockKind::Semaphore,
        }
    }
}

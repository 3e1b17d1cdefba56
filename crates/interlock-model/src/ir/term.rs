//! How the IR names things: values of a function, access paths from a root, and terms that are put together from both.
//!
//! Names are symbolic. Two effects touch the same thing when their terms [name the same](Term::names_the_same_as) after the
//! caller's terms have been put in for the parameters, so nothing here may depend on where a helper is called from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Fields;

/// An identifier of the source, shared because substitution copies it often.
pub type Name = Arc<str>;

/// A value inside one function, as an index into [`Function::values`](super::Function::values). Assigned once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Value(pub u32);

/// What something is called at run time, as far as the source says it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Term {
    /// Text or a number that stands in the source.
    Literal(Name),
    /// What is found at a path; a bare value is a path without fields.
    Path(AccessPath),
    /// Parts one after another: a template string, a joined path.
    Join(Vec<Term>),
    /// The directory in which a path lies.
    Parent(Box<Term>),
    /// Something that differs from use to use.
    Fresh(Fresh),
    /// The system's folder for temporary files: another directory than the one that counts.
    TempDir,
    /// Everything of the kind: a whole table, any key.
    Any,
    /// Not understood.
    Unknown,
}

/// In how far a [`Term::Fresh`] is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Fresh {
    /// Unpredictable, and never the same twice.
    Random,
    /// Counts up within one process.
    Counter,
    /// One per process: shared by all its calls.
    ProcessId,
    /// The time: the same for two calls of one instant.
    Time,
}

/// A way from a root to a place: `this.graphs[id].entities`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccessPath {
    /// Where it starts.
    pub root: Root,
    /// The steps from there.
    pub fields: Fields,
}

/// Where an [`AccessPath`] starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Root {
    /// A value of the function: a parameter, a local, a result.
    Value(Value),
    /// The object whose method this is.
    This,
    /// Something that lives as long as the module, qualified so that two modules' names differ.
    Global(Name),
}

/// One step of an [`AccessPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Field {
    /// A named field.
    Name(Name),
    /// An entry of a map or a list.
    At(Term),
}

impl Term {
    /// Whether two terms are sure to name the same thing. What is not understood names nothing in particular, and what is fresh
    /// differs from use to use, so neither is the same as itself; bind it to a value to speak of one use twice.
    #[must_use]
    pub fn names_the_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => false,
            (Self::Fresh(Fresh::ProcessId), Self::Fresh(Fresh::ProcessId)) => true,
            (Self::Fresh(_), _) | (_, Self::Fresh(_)) => false,
            (Self::Join(parts), Self::Join(others)) => {
                parts.len() == others.len()
                    && parts.iter().zip(others).all(|(one, two)| one.names_the_same_as(two))
            }
            (Self::Parent(path), Self::Parent(other)) => path.names_the_same_as(other),
            (Self::Path(path), Self::Path(other)) => path.names_the_same_as(other),
            _ => self == other,
        }
    }
}

impl Term {
    /// Adds every value that it mentions.
    pub fn mention(&self, values: &mut Vec<Value>) {
        match self {
            Self::Path(path) => path.mention(values),
            Self::Join(parts) => parts.iter().for_each(|part| part.mention(values)),
            Self::Parent(path) => path.mention(values),
            _ => {}
        }
    }

    /// Every value that it mentions.
    #[must_use]
    pub fn mentioned(&self) -> Vec<Value> {
        let mut values = vec![];
        self.mention(&mut values);
        values
    }
}

impl AccessPath {
    /// Adds every value that it mentions: its root, and what its entries are found by.
    pub fn mention(&self, values: &mut Vec<Value>) {
        if let Root::Value(value) = self.root {
            values.push(value);
        }
        for field in &self.fields {
            if let Field::At(index) = field {
                index.mention(values);
            }
        }
    }

    /// Whether two paths are sure to lead to the same place.
    #[must_use]
    pub fn names_the_same_as(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len() && self.begins_with(other)
    }

    /// Whether a path is sure to lead through the place that another leads to, or to it.
    #[must_use]
    pub fn begins_with(&self, other: &Self) -> bool {
        let same = |(one, two): (&Field, &Field)| match (one, two) {
            (Field::At(index), Field::At(other)) => index.names_the_same_as(other),
            _ => one == two,
        };
        self.root == other.root
            && self.fields.len() >= other.fields.len()
            && self.fields.iter().zip(&other.fields).all(same)
    }

    /// A path that ends where it starts.
    #[must_use]
    pub const fn of(root: Root) -> Self {
        Self { root, fields: Fields::new() }
    }

    /// A path that starts at a module-level name.
    #[must_use]
    pub fn global(name: impl Into<Name>) -> Self {
        Self::of(Root::Global(name.into()))
    }

    /// The receiver.
    #[must_use]
    pub const fn this() -> Self {
        Self::of(Root::This)
    }

    /// The path one named field further.
    #[must_use]
    pub fn field(mut self, name: impl Into<Name>) -> Self {
        self.fields.push(Field::Name(name.into()));
        self
    }

    /// The path one map or list entry further.
    #[must_use]
    pub fn at(mut self, index: impl Into<Term>) -> Self {
        self.fields.push(Field::At(index.into()));
        self
    }
}

impl From<Value> for AccessPath {
    fn from(value: Value) -> Self {
        Self::of(Root::Value(value))
    }
}

impl From<Value> for Term {
    fn from(value: Value) -> Self {
        Self::Path(value.into())
    }
}

impl From<AccessPath> for Term {
    fn from(path: AccessPath) -> Self {
        Self::Path(path)
    }
}

impl From<&str> for Term {
    fn from(literal: &str) -> Self {
        Self::Literal(literal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fresh_or_unknown_is_not_the_same_as_itself() {
        let same = |term: Term| term.names_the_same_as(&term.clone());
        assert!(same("a".into()) && same(Value(1).into()) && same(Term::TempDir) && same(Term::Any));
        assert!(same(Term::Fresh(Fresh::ProcessId)), "all calls of a process share it");
        for fresh in [Fresh::Random, Fresh::Counter, Fresh::Time] {
            assert!(!same(Term::Fresh(fresh)));
            assert!(!same(Term::Join(vec!["a".into(), Term::Fresh(fresh)])));
        }
        assert!(!same(Term::Unknown));
        assert!(!same(AccessPath::this().at(Term::Unknown).into()));
        assert!(!same(Term::Parent(Box::new(Term::Unknown))));
    }

    #[test]
    fn a_term_mentions_its_root_and_what_its_entries_are_found_by() {
        let entry = AccessPath::from(Value(1)).field("x").at(Value(2));
        let term = Term::Join(vec!["a".into(), Term::Parent(Box::new(entry.into())), Term::TempDir]);
        assert_eq!(term.mentioned(), [Value(1), Value(2)]);
        assert_eq!(Term::from(AccessPath::this()).mentioned(), []);
    }

    #[test]
    fn paths_are_the_same_step_by_step() {
        let path = |key: &str| AccessPath::global("m").field("x").at(key);
        assert!(path("k").names_the_same_as(&path("k")));
        assert!(!path("k").names_the_same_as(&path("l")));
        assert!(!path("k").names_the_same_as(&path("k").field("y")));
        assert!(!path("k").names_the_same_as(&AccessPath::this().field("x").at("k")));
    }
}

//! How the IR names things: values of a function, access paths from a root, and terms that are put together from both.
//!
//! Names are symbolic. Two effects touch the same thing when their terms are equal after the caller's terms have been put in
//! for the parameters, so nothing here may depend on where a helper happens to be called from.

use std::sync::Arc;

/// An identifier of the source, shared because substitution copies it often.
pub type Name = Arc<str>;

/// A value inside one function, as an index into [`Function::values`](super::Function::values). Assigned once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// What something is called at run time, as far as the source says it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Text or a number that stands in the source.
    Literal(Name),
    /// What is found at a path; a bare value is a path without fields.
    Path(AccessPath),
    /// Parts one after another: a template string, a joined path.
    Join(Vec<Term>),
    /// Something that differs from use to use.
    Fresh(Fresh),
    /// The system's folder for temporary files: another directory than the one that counts.
    TempDir,
    /// Everything of the kind: a whole table, any key.
    Any,
    /// Not understood. Equal to nothing, itself included, in the eyes of a rule.
    Unknown,
}

/// In how far a [`Term::Fresh`] is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessPath {
    /// Where it starts.
    pub root: Root,
    /// The steps from there.
    pub fields: Vec<Field>,
}

/// Where an [`AccessPath`] starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// A value of the function: a parameter, a local, a result.
    Value(Value),
    /// The object whose method this is.
    This,
    /// Something that lives as long as the module, qualified so that two modules' names differ.
    Global(Name),
}

/// One step of an [`AccessPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// A named field.
    Name(Name),
    /// An entry of a map or a list.
    At(Term),
}

impl AccessPath {
    /// A path that starts at a module-level name.
    #[must_use]
    pub fn global(name: impl Into<Name>) -> Self {
        Self { root: Root::Global(name.into()), fields: vec![] }
    }

    /// The receiver.
    #[must_use]
    pub const fn this() -> Self {
        Self { root: Root::This, fields: vec![] }
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
        Self { root: Root::Value(value), fields: vec![] }
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

//! What calls can meet at, what may be asked of it, and how it may be changed.

use serde::{Deserialize, Serialize};

use super::{AccessPath, Name, Term};

/// A thing that outlives the call, so that another call can see it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resource {
    /// A file or folder, by its path.
    File(Term),
    /// Rows of a table, or documents of a collection.
    Row {
        /// The table or collection. Terms stand apart here, because a step takes as much room as the largest resource.
        table: Box<Term>,
        /// Which of them; [`Term::Any`] for all.
        key: Box<Term>,
        /// The columns or fields concerned; empty for the whole.
        columns: Vec<Name>,
    },
    /// Memory that several calls reach: a field, a map entry, a global.
    Shared(AccessPath),
    /// A key of a key-value store such as Redis.
    Key(Term),
    /// What says whether calls may still start.
    Flag(AccessPath),
    /// A pipe, socket or standard stream that frames go out on.
    Stream(AccessPath),
}

/// What a read asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Aspect {
    /// What is in it.
    Content,
    /// Whether it is there.
    Existence,
    /// Its size, times or permissions.
    Metadata,
    /// Where its name leads: whether it is a link, its real path.
    Target,
    /// What the store makes of all rows at once: how many there are, the greatest of them. Of a folder, what is in it.
    Total,
}

/// How a write takes effect when others write too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WriteMode {
    /// Whatever was there is replaced.
    Blind,
    /// Only where the condition still holds.
    Conditional(Condition),
    /// Only if there is nothing yet: `wx`, `O_EXCL`, an insert into a unique key.
    Exclusive,
    /// Creates it, or is content that it is there: `mkdir -p`, `ON CONFLICT DO NOTHING`.
    Ensure,
    /// Adds at the end in one piece, and leaves the rest.
    Append,
    /// Adds at the end, perhaps in pieces: a buffered or partial write, with room for another writer in between.
    Pieces,
    /// Computed by the store from what is there: an increment, a script.
    Atomic,
    /// Sets only how long it lives.
    Expiry,
}

/// What a conditional statement demands of the state it finds: all of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Condition(pub Vec<Comparison>);

/// One demand of a [`Condition`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Comparison {
    /// The column or field.
    pub column: Name,
    /// How it is compared.
    pub how: Comparator,
    /// With what.
    pub with: Term,
}

/// How two things are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `<>`
    Different,
    /// `<` or `<=`
    AtMost,
    /// `>` or `>=`
    AtLeast,
    /// Any other way.
    Other,
}

impl Resource {
    /// Rows of a table; no columns are all of them.
    #[must_use]
    pub fn rows(table: Term, key: Term, columns: Vec<Name>) -> Self {
        Self::Row { table: Box::new(table), key: Box::new(key), columns }
    }

    /// A whole row or document.
    #[must_use]
    pub fn row(table: impl Into<Term>, key: impl Into<Term>) -> Self {
        Self::columns(table, key, [])
    }

    /// Some columns or fields of a row or document.
    #[must_use]
    pub fn columns<const N: usize>(table: impl Into<Term>, key: impl Into<Term>, columns: [&str; N]) -> Self {
        Self::rows(table.into(), key.into(), columns.map(Name::from).into())
    }
}

impl Condition {
    /// A condition with one demand.
    #[must_use]
    pub fn on(column: &str, how: Comparator, with: impl Into<Term>) -> Self {
        Self(vec![Comparison { column: column.into(), how, with: with.into() }])
    }
}

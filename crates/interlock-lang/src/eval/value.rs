//! What an expression, a variable or a member may be, as far as the sources say: the one domain of values, in which linking asks for
//! all callers together and the discovery of tools for one of them at a time.
//!
//! `const store = kind ? new Disk() : new Log()` is one of two instances, and every alternative is followed; what a library made is
//! the kind that the knowledge of libraries has a name for.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, FunctionId, Name, Value};

use super::context::{Context, Env, Unbound};
use crate::{Arg, Kind, tables::Collection};

/// How many alternatives are looked at to know what something is.
const MOST_ALTERNATIVES: usize = 48;

/// What something is. What is followed [in one context](super::context) keeps its assumptions; elsewhere there are none.
#[derive(Debug, Clone)]
pub(crate) enum AbstractValue<'f> {
    /// Nothing is known.
    Unknown,
    /// A function of the program.
    Function(FunctionId, Env<'f>),
    /// A class of the program.
    Class(usize),
    /// An object of a class.
    Instance(usize, Env<'f>),
    /// The members of an object literal, and where it is written.
    Object(&'f [(Name, Arg)], Context<'f>),
    /// One of several functions, classes, objects of classes or object literals; which one, the source does not say.
    Alternatives(Arc<[AbstractValue<'f>]>),
    /// An export of a library, or something of the language where the library is empty.
    Export(Name, Name),
    /// An object that a library made.
    Kind(Arc<Kind>),
    /// A method of a library's object, taken from it to be called by itself: `db.get.bind(db)`.
    Bound(Arc<Bound>),
    /// An object that a library made of which nothing is known.
    Foreign,
    /// What a library of which nothing is known made of a function of the program: who calls it is taken to run the function, which is a
    /// guess, and all else is [`Foreign`](Self::Foreign).
    Wrapped(FunctionId),
    /// A map, set or list of the language.
    Collection(Collection),
    /// Text, a number, a date: no state.
    Plain,
    /// A text that is known.
    Text(Name),
    /// `true` or `false`.
    Bool(bool),
    /// A list literal, and where it is written.
    List(&'f [Arg], Context<'f>),
    /// A list that was put together.
    Items(Arc<[AbstractValue<'f>]>),
    /// The members of an object as pairs of name and value.
    Entries(Arc<[(Name, AbstractValue<'f>)]>),
    /// A local list, map or set of a function that calls put things into, and what it was made as.
    Filled(u32, Value, Arc<AbstractValue<'f>>),
    /// The result of a call that was not followed yet.
    Call(u32, Context<'f>),
    /// All exports of a file.
    Exports(Name),
    /// What callers or a loop decide: a free variable of the context.
    Unbound(Unbound),
}

/// A method without a call, and whose it is.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) kind: Arc<Kind>,
    /// Where the object is, as the function sees it that takes the method.
    pub(crate) receiver: AccessPath,
    pub(crate) within: FunctionId,
    pub(crate) name: Name,
}

impl<'f> AbstractValue<'f> {
    /// A function in no context.
    pub(crate) fn of_function(function: FunctionId) -> Self {
        Self::Function(function, Env::default())
    }

    /// An object of a class, however it was made.
    pub(crate) fn of_class(class: usize) -> Self {
        Self::Instance(class, Env::default())
    }

    /// What something is that is one of several: the first that only a library can say more of, or all functions, classes and objects of
    /// classes among them, or all object literals.
    pub(crate) fn join(values: impl Iterator<Item = Self>) -> Self {
        let (mut several, mut objects): (Vec<Self>, Vec<Self>) = (vec![], vec![]);
        let mut weak = Self::Unknown;
        for value in values.take(MOST_ALTERNATIVES) {
            match value {
                Self::Unknown => {}
                Self::Plain | Self::Foreign | Self::Wrapped(_) => weak = value,
                Self::Object(..) => add(&mut objects, value),
                Self::Function(..) | Self::Instance(..) | Self::Class(_) => add(&mut several, value),
                Self::Alternatives(all) => {
                    for one in all.iter() {
                        let is_object = matches!(one, Self::Object(..));
                        add(if is_object { &mut objects } else { &mut several }, one.clone());
                    }
                }
                known if several.is_empty() => return known,
                _ => {}
            }
        }
        let mut joined = if several.is_empty() { objects } else { several };
        match joined.len() {
            0 => weak,
            1 => joined.pop().unwrap_or(weak),
            _ => Self::Alternatives(joined.into()),
        }
    }

    /// What has to be decided before more can be said.
    pub(crate) const fn unbound(&self) -> Option<Unbound> {
        match self {
            Self::Unbound(unbound) => Some(*unbound),
            _ => None,
        }
    }

    /// The text, if it is one that is known.
    pub(crate) const fn text(&self) -> Option<&Name> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether nothing is known.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// This, or something else where nothing is known.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_unknown() { other() } else { self }
    }

    /// The first of several of which something is known.
    pub(crate) fn first(values: impl IntoIterator<Item = Self>) -> Self {
        values.into_iter().find(|value| !value.is_unknown()).unwrap_or(Self::Unknown)
    }

    /// What a library offers, as a global: `LIBRARY::NAME`.
    pub(crate) fn exported(&self) -> Option<Name> {
        match self {
            Self::Export(library, path) if library.is_empty() => Some(path.clone()),
            Self::Export(library, path) => Some([library, "::", path].concat().into()),
            _ => None,
        }
    }

    /// What another function sees of it.
    pub(crate) fn seen_from_outside(self) -> Self {
        match self {
            Self::Kind(kind) => Self::Kind(Arc::new(kind.from_outside())),
            other => other,
        }
    }

    /// Whether it says more than a declared type, which may be an interface or a base class.
    pub(crate) const fn is_precise(&self) -> bool {
        matches!(self, Self::Instance(..) | Self::Alternatives(_) | Self::Function(..) | Self::Kind(_))
    }

    /// Whether both are the same function, class or written object.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one, _), Self::Function(other, _)) => one == other,
            (Self::Instance(one, _), Self::Instance(other, _)) | (Self::Class(one), Self::Class(other)) => {
                one == other
            }
            (Self::Object(one, _), Self::Object(other, _)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// The function that it is, the first of several.
    pub(crate) fn function(&self) -> Option<FunctionId> {
        match self {
            Self::Function(function, _) => Some(*function),
            Self::Alternatives(all) => all.iter().find_map(Self::function),
            _ => None,
        }
    }
}

/// Adds an alternative unless it is there.
fn add<'f>(alternatives: &mut Vec<AbstractValue<'f>>, value: AbstractValue<'f>) {
    if !alternatives.iter().any(|known| known.is_same(&value)) {
        alternatives.push(value);
    }
}

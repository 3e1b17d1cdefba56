//! What an expression, a variable or a member may be, as far as the sources say: the one domain of values that linking asks in.
//!
//! `const store = kind ? new Disk() : new Log()` is one of two instances, and every alternative is followed; what a library made is
//! the kind that the knowledge of libraries has a name for.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, FunctionId, Name};

use crate::{Arg, Kind, tables::Collection};

/// How many alternatives are looked at to know what something is.
const MOST_ALTERNATIVES: usize = 48;

/// What something is.
#[derive(Debug, Clone)]
pub(crate) enum AbstractValue<'f> {
    /// Nothing is known.
    Unknown,
    /// A function of the program.
    Function(FunctionId),
    /// A class of the program.
    Class(usize),
    /// An object of a class.
    Instance(usize),
    /// An object literal, and the function that it is written in.
    Object(&'f Arg, FunctionId),
    /// One of several functions, objects of classes or object literals; which one, the source does not say.
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

impl AbstractValue<'_> {
    /// What something is that is one of several: the first that only a library can say more of, or all functions and objects of
    /// classes among them, or all object literals.
    pub(crate) fn join(values: impl Iterator<Item = Self>) -> Self {
        let (mut several, mut objects): (Vec<Self>, Vec<Self>) = (vec![], vec![]);
        let mut weak = Self::Unknown;
        for value in values.take(MOST_ALTERNATIVES) {
            match value {
                Self::Unknown => {}
                Self::Plain | Self::Foreign | Self::Wrapped(_) => weak = value,
                Self::Object(..) => add(&mut objects, value),
                Self::Function(_) | Self::Instance(_) => add(&mut several, value),
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

    /// What another function sees of it.
    pub(crate) fn seen_from_outside(self) -> Self {
        match self {
            Self::Kind(kind) => Self::Kind(Arc::new(kind.from_outside())),
            other => other,
        }
    }

    /// Whether it says more than a declared type, which may be an interface or a base class.
    pub(crate) const fn is_precise(&self) -> bool {
        matches!(self, Self::Instance(_) | Self::Alternatives(_) | Self::Function(_) | Self::Kind(_))
    }

    /// Whether both are the same function, class or written object.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one), Self::Function(other)) => one == other,
            (Self::Instance(one), Self::Instance(other)) => one == other,
            (Self::Object(one, _), Self::Object(other, _)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// The function that it is, the first of several.
    pub(crate) fn function(&self) -> Option<FunctionId> {
        match self {
            Self::Function(function) => Some(*function),
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

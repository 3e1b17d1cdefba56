//! What an expression comes to, in whatever language it is written: what lowering passes from one expression to the next.

use interlock_model::ir::{AccessPath, Argument, FunctionId, Name, Term, Value};

use crate::{Arg, Shape};

/// What is known of a value besides its name, as bits.
pub(crate) mod flag {
    /// Its members may be seen by other calls.
    pub(crate) const STATE: u8 = 1;
    /// It grows from turn to turn of a loop, or from try to try.
    pub(crate) const GROWS: u8 = 2;
    /// Chance is in it.
    pub(crate) const CHANCE: u8 = 4;
    /// A loop counts it.
    pub(crate) const COUNTER: u8 = 8;
    /// It is a module that was imported in the middle of things, or a part of one.
    pub(crate) const MODULE: u8 = 16;
}

/// The most parts that a structure may have to be remembered with a variable. Without a bound, variables that hold each other twice
/// would double it on every line.
const MOST_PARTS: usize = 200;

/// An item of a list with more items than this is not called like the first.
const MOST_ALIKE: usize = 4;

/// What an expression came to: how it is called, what it depends on, and what it is made of.
#[derive(Debug, Clone)]
pub(crate) struct Val {
    pub(crate) term: Term,
    pub(crate) values: Vec<Value>,
    pub(crate) shape: Shape,
    /// See [`flag`].
    pub(crate) flags: u8,
    /// The value that the last step of the expression made, so that a variable can take it over.
    pub(crate) direct: Option<Value>,
    /// The variable that it was read from: its members are found there. Few have one, and all are moved about.
    pub(crate) place: Option<Box<AccessPath>>,
}

impl Val {
    pub(crate) const fn nothing() -> Self {
        Self {
            term: Term::Unknown,
            values: vec![],
            shape: Shape::Opaque,
            flags: 0,
            direct: None,
            place: None,
        }
    }

    pub(crate) fn of(value: Value, flags: u8) -> Self {
        Self {
            term: value.into(),
            values: vec![value],
            shape: Shape::Opaque,
            flags,
            direct: None,
            place: None,
        }
    }

    pub(crate) fn path(path: AccessPath, values: Vec<Value>, flags: u8) -> Self {
        Self { term: Term::Path(path), values, shape: Shape::Opaque, flags, direct: None, place: None }
    }

    pub(crate) fn literal(text: Name) -> Self {
        let term = Term::Literal(text);
        Self { shape: Shape::Text(vec![term.clone()]), term, ..Self::nothing() }
    }

    pub(crate) fn from_values(values: Vec<Value>, flags: u8) -> Self {
        Self { values, flags, ..Self::nothing() }
    }

    pub(crate) fn function(function: u32, captures: Vec<Term>) -> Self {
        Self { shape: Shape::Function { function: FunctionId(function), captures }, ..Self::nothing() }
    }

    /// The value, if it is nothing more than one.
    pub(crate) fn only_value(&self) -> Option<Value> {
        if let Some(direct) = self.direct {
            return Some(direct);
        }
        match (&self.term, self.values.as_slice()) {
            (Term::Path(AccessPath { root: interlock_model::ir::Root::Value(root), fields }), [value])
                if root == value && fields.is_empty() =>
            {
                Some(*value)
            }
            _ => None,
        }
    }

    /// How an item of it is called: which one it is is not known, but whose. An item of a short list of things that are computed is
    /// called like the first of them, for what is done to each is done to that.
    pub(crate) fn entry(&self) -> Term {
        match self.path_ref() {
            Some(path) if self.flags & flag::STATE != 0 => return Term::Path(path.clone().at(Term::Unknown)),
            _ => {}
        }
        match &self.shape {
            Shape::List(items) if (2..=MOST_ALIKE).contains(&items.len()) => {
                let is_computed = |item: &Arg| match &item.term {
                    Term::Literal(_) => false,
                    Term::Join(_) => true,
                    _ => matches!(item.shape, Shape::Call(_) | Shape::Text(_)),
                };
                let first = items.first().filter(|_| items.iter().all(is_computed));
                first.map_or(Term::Unknown, |first| first.term.clone())
            }
            _ => Term::Unknown,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.shape == Shape::Null
    }

    pub(crate) fn path_ref(&self) -> Option<&AccessPath> {
        match &self.term {
            Term::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Adds what another depends on.
    pub(crate) fn depend(&mut self, other: &Self) {
        merge(&mut self.values, &other.values);
        self.flags |= other.flags & (flag::CHANCE | flag::GROWS | flag::COUNTER);
    }

    pub(crate) fn into_arg(self) -> Arg {
        Arg { term: self.term, values: self.values, shape: self.shape }
    }

    pub(crate) fn from_arg(arg: Arg) -> Self {
        Self { term: arg.term, values: arg.values, shape: arg.shape, flags: 0, direct: None, place: None }
    }
}

/// More values than this nothing depends on: a table of literals that are computed one by one.
const MOST_VALUES: usize = 256;

/// Adds values that are not there yet.
pub(crate) fn merge(values: &mut Vec<Value>, more: &[Value]) {
    for value in more {
        if values.len() < MOST_VALUES && !values.contains(value) {
            values.push(*value);
        }
    }
}

/// An argument as the IR hands it over.
pub(crate) fn argument(arg: &Arg) -> Argument {
    match &arg.shape {
        Shape::Function { function, captures } => {
            Argument::Closure { function: *function, captures: captures.clone() }
        }
        _ => Argument::Term(arg.term.clone()),
    }
}

/// Whether a structure is small enough to be remembered.
pub(crate) fn is_small(shape: &Shape) -> bool {
    fn count(shape: &Shape, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        *left > 0
            && match shape {
                Shape::Object(members) => members.iter().all(|(_, arg)| count(&arg.shape, left)),
                Shape::List(items) | Shape::Choice(items) => items.iter().all(|arg| count(&arg.shape, left)),
                Shape::Text(parts) => {
                    *left = left.saturating_sub(parts.len());
                    *left > 0
                }
                _ => true,
            }
    }
    count(shape, &mut { MOST_PARTS })
}

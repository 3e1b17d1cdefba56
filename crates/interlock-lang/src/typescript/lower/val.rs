//! What an expression comes to.

use interlock_model::ir::{AccessPath, Argument, FunctionId, Name, Term, Value};

use super::context::flag;
use crate::{Arg, Shape};

/// The most parts that a structure may have to be remembered with a variable. Without a bound, variables that hold each other twice
/// would double it on every line.
const MOST_PARTS: usize = 200;

/// What an expression came to: how it is called, what it depends on, and what it is made of.
#[derive(Debug, Clone)]
pub(super) struct Val {
    pub(super) term: Term,
    pub(super) values: Vec<Value>,
    pub(super) shape: Shape,
    /// See [`flag`].
    pub(super) flags: u8,
    /// The value that the last step of the expression made, so that a variable can take it over.
    pub(super) direct: Option<Value>,
    /// The variable that it was read from: its members are found there. Few have one, and all are moved about.
    pub(super) place: Option<Box<AccessPath>>,
}

impl Val {
    pub(super) const fn nothing() -> Self {
        Self {
            term: Term::Unknown,
            values: vec![],
            shape: Shape::Opaque,
            flags: 0,
            direct: None,
            place: None,
        }
    }

    pub(super) fn of(value: Value, flags: u8) -> Self {
        Self {
            term: value.into(),
            values: vec![value],
            shape: Shape::Opaque,
            flags,
            direct: None,
            place: None,
        }
    }

    pub(super) fn path(path: AccessPath, values: Vec<Value>, flags: u8) -> Self {
        Self { term: Term::Path(path), values, shape: Shape::Opaque, flags, direct: None, place: None }
    }

    pub(super) fn literal(text: Name) -> Self {
        let term = Term::Literal(text);
        Self { shape: Shape::Text(vec![term.clone()]), term, ..Self::nothing() }
    }

    pub(super) fn from_values(values: Vec<Value>, flags: u8) -> Self {
        Self { values, flags, ..Self::nothing() }
    }

    pub(super) fn function(function: u32, captures: Vec<Term>) -> Self {
        Self { shape: Shape::Function { function: FunctionId(function), captures }, ..Self::nothing() }
    }

    /// The value, if it is nothing more than one.
    pub(super) fn only_value(&self) -> Option<Value> {
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

    pub(super) fn is_null(&self) -> bool {
        self.shape == Shape::Null
    }

    pub(super) fn path_ref(&self) -> Option<&AccessPath> {
        match &self.term {
            Term::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Adds what another depends on.
    pub(super) fn depend(&mut self, other: &Self) {
        merge(&mut self.values, &other.values);
        self.flags |= other.flags & (flag::CHANCE | flag::GROWS | flag::COUNTER);
    }

    pub(super) fn into_arg(self) -> Arg {
        Arg { term: self.term, values: self.values, shape: self.shape }
    }

    pub(super) fn from_arg(arg: Arg) -> Self {
        Self { term: arg.term, values: arg.values, shape: arg.shape, flags: 0, direct: None, place: None }
    }
}

/// More values than this nothing depends on: a table of literals that are computed one by one.
const MOST_VALUES: usize = 256;

/// Adds values that are not there yet.
pub(super) fn merge(values: &mut Vec<Value>, more: &[Value]) {
    for value in more {
        if values.len() < MOST_VALUES && !values.contains(value) {
            values.push(*value);
        }
    }
}

/// An argument as the IR hands it over.
pub(super) fn argument(arg: &Arg) -> Argument {
    match &arg.shape {
        Shape::Function { function, captures } => {
            Argument::Closure { function: *function, captures: captures.clone() }
        }
        _ => Argument::Term(arg.term.clone()),
    }
}

/// Whether a structure is small enough to be remembered.
pub(super) fn is_small(shape: &Shape) -> bool {
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

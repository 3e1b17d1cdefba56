//! Contexts: a function, and what is assumed of the parameters, loop variables and classes on the way to it.

use std::sync::Arc;

use interlock_model::ir::{Term, Value};

use super::super::value::AbstractValue;
use crate::Arg;

/// Who decides what something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Unbound {
    /// The callers of a function.
    Parameters(u32),
    /// A loop in a function, over things of which the value is one.
    Item(u32, Value),
    /// Which of the classes that extend a class, by number, an object is of.
    This(usize),
}

/// Where expressions are looked at: in a function, under assumptions.
#[derive(Debug, Clone)]
pub(crate) struct Context<'f> {
    /// The function.
    pub(crate) function: u32,
    /// What is assumed.
    pub(crate) env: Env<'f>,
}

/// What some values of some functions are assumed to be; the newest assumption first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env<'f>(Option<Arc<Frame<'f>>>);

#[derive(Debug)]
struct Frame<'f> {
    function: u32,
    bound: Vec<(Value, Assumed<'f>)>,
    this: Option<(usize, usize)>,
    next: Env<'f>,
}

/// What a value is assumed to be.
#[derive(Debug, Clone)]
pub(crate) enum Assumed<'f> {
    /// This.
    Value(AbstractValue<'f>),
    /// What is written in a function, which is looked at under all assumptions that are made by then.
    Arg(&'f Arg, u32),
    /// The same of a term.
    Term(&'f Term, u32),
}

impl<'f> Env<'f> {
    /// The same assumptions and some more.
    pub(crate) fn with(&self, function: u32, bound: Vec<(Value, Assumed<'f>)>) -> Self {
        Self(Some(Arc::new(Frame { function, bound, this: None, next: self.clone() })))
    }

    /// The same assumptions, and that objects of a class are of another, which extends it.
    pub(crate) fn with_this(&self, class: usize, actual: usize) -> Self {
        let (function, bound) = (u32::MAX, vec![]);
        Self(Some(Arc::new(Frame { function, bound, this: Some((class, actual)), next: self.clone() })))
    }

    /// Which class objects of a class are assumed to be of.
    pub(crate) fn this(&self, class: usize) -> Option<usize> {
        let mut env = self;
        while let Some(frame) = env.0.as_deref() {
            match frame.this {
                Some((base, actual)) if base == class => return Some(actual),
                _ => env = &frame.next,
            }
        }
        None
    }

    /// What a value is assumed to be.
    pub(crate) fn get(&self, function: u32, value: Value) -> Option<Assumed<'f>> {
        let mut env = self;
        while let Some(frame) = env.0.as_deref() {
            let mut bound = frame.bound.iter().filter(|_| frame.function == function);
            if let Some((_, what)) = bound.find(|(bound, _)| *bound == value) {
                return Some(what.clone());
            }
            env = &frame.next;
        }
        None
    }

    /// Whether nothing is assumed.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether there are assumptions about a function at all.
    pub(crate) fn knows(&self, function: u32) -> bool {
        let mut env = self;
        while let Some(frame) = env.0.as_deref() {
            if frame.function == function {
                return true;
            }
            env = &frame.next;
        }
        false
    }
}

impl<'f> Context<'f> {
    /// A function without assumptions.
    pub(crate) fn plain(function: u32) -> Self {
        Self { function, env: Env::default() }
    }

    /// Another function under the same assumptions.
    pub(crate) fn go(&self, function: u32) -> Self {
        Self { function, env: self.env.clone() }
    }
}

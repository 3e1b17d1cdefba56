//! What an expression turns out to be, and under which assumptions.

use std::rc::Rc;

use interlock_model::ir::{Name, Term, Value};

use crate::Arg;

/// What is known of an expression.
#[derive(Debug, Clone)]
pub(super) enum Thing<'i> {
    /// Nothing.
    Unknown,
    /// Text.
    Text(Name),
    /// `true` or `false`.
    Bool(bool),
    /// A function.
    Function(u32, Env<'i>),
    /// An object that is written out.
    Object(&'i [(Name, Arg)], At<'i>),
    /// A list that is written out.
    List(&'i [Arg], At<'i>),
    /// A list that was put together.
    Many(Rc<Vec<Thing<'i>>>),
    /// A local list, map or set that calls put things into.
    Filled(u32, Value, Rc<Thing<'i>>),
    /// The members of an object as pairs of name and value.
    Entries(Rc<Vec<(Name, Thing<'i>)>>),
    /// The result of a call that says no more.
    Call(u32, At<'i>),
    /// A class, by number.
    Class(usize),
    /// An object of a class that a call has made.
    Instance(usize, At<'i>),
    /// `this` in a method of a class.
    This(usize),
    /// What a library exports, or the language offers.
    Library(Name),
    /// Everything that a file exports.
    Exports(Name),
    /// One of several objects or lists.
    OneOf(Rc<Vec<Thing<'i>>>),
    /// Something that a caller or a loop decides.
    Open(Open),
}

/// Who decides what something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Open {
    /// The callers of a function.
    Parameters(u32),
    /// A loop in a function, over things of which the value is one.
    Item(u32, Value),
    /// Which of the classes that extend a class, by number, an object is of.
    This(usize),
}

/// A place where expressions are looked at: a function, and what is assumed.
#[derive(Debug, Clone)]
pub(super) struct At<'i> {
    /// The function.
    pub(super) function: u32,
    /// What is assumed.
    pub(super) env: Env<'i>,
}

/// What some values of some functions are assumed to be; the newest assumption first.
#[derive(Debug, Clone, Default)]
pub(super) struct Env<'i>(Option<Rc<Frame<'i>>>);

#[derive(Debug)]
struct Frame<'i> {
    function: u32,
    bound: Vec<(Value, Bound<'i>)>,
    this: Option<(usize, usize)>,
    next: Env<'i>,
}

/// What a value is assumed to be.
#[derive(Debug, Clone)]
pub(super) enum Bound<'i> {
    /// This.
    Thing(Thing<'i>),
    /// What is written in a function, which is looked at under all assumptions that are made by then.
    Arg(&'i Arg, u32),
    /// The same of a term.
    Term(&'i Term, u32),
}

impl<'i> Env<'i> {
    /// The same assumptions and some more.
    pub(super) fn with(&self, function: u32, bound: Vec<(Value, Bound<'i>)>) -> Self {
        Self(Some(Rc::new(Frame { function, bound, this: None, next: self.clone() })))
    }

    /// The same assumptions, and that objects of a class are of another, which extends it.
    pub(super) fn with_this(&self, class: usize, actual: usize) -> Self {
        let (function, bound) = (u32::MAX, vec![]);
        Self(Some(Rc::new(Frame { function, bound, this: Some((class, actual)), next: self.clone() })))
    }

    /// Which class objects of a class are assumed to be of.
    pub(super) fn this(&self, class: usize) -> Option<usize> {
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
    pub(super) fn get(&self, function: u32, value: Value) -> Option<Bound<'i>> {
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
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether there are assumptions about a function at all.
    pub(super) fn knows(&self, function: u32) -> bool {
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

impl<'i> At<'i> {
    /// A function without assumptions.
    pub(super) fn plain(function: u32) -> Self {
        Self { function, env: Env::default() }
    }

    /// Another function under the same assumptions.
    pub(super) fn go(&self, function: u32) -> Self {
        Self { function, env: self.env.clone() }
    }
}

impl Thing<'_> {
    /// Who has to decide before more can be said.
    pub(super) fn open(&self) -> Option<Open> {
        match self {
            Self::Open(open) => Some(*open),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&Name> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

//! A call while it is being looked at: what its places hold, which way its statements go, and who gets its result.

use std::{borrow::Cow, cell::Cell};

use interlock_model::ir::{AccessPath, Argument, Body, Callee, Name, Op, Origin, Root, Term, Value, Via};

use crate::{Arg, Call, Kind, Shape};

use super::{Knowledge, format::Engine, object::Object};

/// A call, and whose method it is.
pub(super) struct Scene<'a> {
    pub(super) knowledge: &'a Knowledge,
    pub(super) call: &'a Call<'a>,
    /// The function or method, without what leads to it.
    pub(super) name: &'a str,
    /// What the object is.
    pub(super) kind: Option<&'a Kind>,
    /// Where the object is.
    pub(super) receiver: Option<&'a AccessPath>,
    /// Who gets the result, until a step gives it.
    into: Cell<Option<Value>>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        knowledge: &'a Knowledge,
        call: &'a Call<'a>,
        name: &'a str,
        object: Option<(&'a Kind, &'a AccessPath)>,
    ) -> Self {
        let (kind, receiver) = object.unzip();
        Self { knowledge, call, name, kind, receiver, into: Cell::new(call.into) }
    }

    /// Whether it is only guessed what the object is.
    pub(super) fn is_guessed(&self) -> bool {
        self.kind.is_some_and(|kind| kind.guessed)
    }

    /// What is known of the object's type.
    pub(super) fn object(&self) -> Option<Object<'a>> {
        self.knowledge.object(&self.kind?.name)
    }

    /// What runs the statements: the library says it, or the driver that is plugged into it.
    pub(super) fn engine(&self) -> Option<Engine> {
        self.object()?.engine().or_else(|| self.call.surroundings.engine())
    }

    /// Who gets the result; the first step that asks is the one that gives it.
    pub(super) fn take_into(&self) -> Option<Value> {
        self.into.take()
    }

    /// A value for what a step gives.
    pub(super) fn result(&self, body: &mut Body<'_>, name: &str) -> Value {
        self.take_into().unwrap_or_else(|| body.declare(name, Origin::Step))
    }

    /// Hands the result to somebody else.
    pub(super) fn set_into(&self, into: Option<Value>) {
        self.into.set(into);
    }

    /// An argument with the structure that it was given elsewhere.
    pub(super) fn known<'s>(&self, arg: Cow<'s, Arg>) -> Cow<'s, Arg> {
        let (Term::Path(path), Shape::Opaque | Shape::Choice(_)) = (&arg.term, &arg.shape) else {
            return arg;
        };
        match self.call.surroundings.initial(path) {
            Some(initial) if !matches!(initial.shape, Shape::Opaque | Shape::Choice(_)) => {
                let mut values = arg.values.clone();
                values.extend(initial.values);
                Cow::Owned(Arg { term: arg.term.clone(), values, shape: initial.shape })
            }
            _ => arg,
        }
    }

    /// What an argument is, where a library made it.
    pub(super) fn kind_of(&self, arg: &Arg) -> Option<Kind> {
        match (&arg.shape, &arg.term) {
            (Shape::Call(site), _) => {
                let by_site = self.call.surroundings.site(*site);
                by_site.or_else(|| self.kind_at(&arg.term))
            }
            (Shape::Opaque | Shape::Choice(_), term) => self.kind_at(term),
            _ => None,
        }
    }

    fn kind_at(&self, term: &Term) -> Option<Kind> {
        match term {
            Term::Path(path) => self.call.surroundings.kind(path),
            _ => None,
        }
    }

    /// What an argument is called; what it was made from where it is only another form of that.
    pub(super) fn name_of(&self, arg: &Arg) -> Term {
        if let Some(kind) = self.kind_of(arg)
            && self.knowledge.object(&kind.name).is_some_and(|object| object.transparent())
            && let Some(inner) = kind.made.last().and_then(|made| made.arguments.first())
        {
            return term_of(inner);
        }
        term_of(arg)
    }

    pub(super) fn values_in(&self, term: &Term) -> Vec<Value> {
        match term {
            Term::Path(AccessPath { root: Root::Value(value), .. }) => vec![*value],
            Term::Join(parts) => parts.iter().flat_map(|part| self.values_in(part)).collect(),
            _ => vec![],
        }
    }

    /// Which way a statement of this call goes: the connection that an argument names, else the object, else what the object came from.
    pub(super) fn via(&self) -> Option<Via> {
        let kind = self.kind?;
        let Some(object) = self.object() else {
            // Of an object that nothing is known of, its name tells whether it is one connection.
            let receiver = self.receiver?.clone();
            let name = super::place::last_name(&receiver);
            let pool = name.is_some_and(|name| name.to_lowercase().contains("pool"));
            return Some(if pool { Via::Pool(receiver) } else { Via::Client(receiver) });
        };
        let named = object.connection().iter().find_map(|name| {
            self.call.arguments.iter().find_map(|arg| match &arg.member(name)?.term {
                Term::Path(path) => Some(Via::Client(path.clone())),
                _ => None,
            })
        });
        let known = named.or_else(|| object.way(self.receiver?)).or_else(|| kind.via.clone());
        known.or_else(|| object.own_way(self.receiver?))
    }

    /// The same, as a step holds it.
    pub(super) fn boxed_via(&self) -> Option<Box<Via>> {
        self.via().map(Box::new)
    }

    /// The id of the object that a method is called on.
    pub(super) fn own_id(&self) -> Option<Term> {
        let object = self.receiver.filter(|path| matches!(path.root, Root::Value(_)))?;
        Some(Term::Path(object.clone().field("id")))
    }

    /// The table that the object stands for; what the object is called where nothing else is known.
    pub(super) fn table(&self) -> Term {
        let subject = self.kind.and_then(|kind| kind.subject.clone());
        let named = || super::place::last_name(self.receiver?).map(Term::Literal);
        subject.or_else(named).unwrap_or(Term::Unknown)
    }

    /// The table that an argument names: by a table object, by a class, or as text.
    pub(super) fn table_named_by(&self, arg: &Arg) -> Term {
        let known = self.kind_of(arg).and_then(|kind| kind.subject);
        known.unwrap_or_else(|| super::filter::column_of(arg).map_or(Term::Unknown, Term::Literal))
    }

    /// Calls a function that the call was handed. Does nothing for what is no function.
    pub(super) fn call_back(
        &self,
        body: &mut Body<'_>,
        function: &Arg,
        arguments: Vec<Argument>,
        into: Option<Value>,
    ) {
        let callee = match (&function.shape, &function.term) {
            (Shape::Function { function, captures }, _) => {
                Callee::Closure { function: *function, captures: captures.clone() }
            }
            (_, Term::Path(AccessPath { root: Root::Value(value), fields })) if fields.is_empty() => {
                Callee::Value(*value)
            }
            (_, Term::Path(path)) => {
                let value = body.declare("callback", Origin::Step);
                let from = self.values_in(&function.term);
                body.push(Op::Derive { into: value, from, term: Term::Path(path.clone()) });
                Callee::Value(value)
            }
            _ => return,
        };
        body.push(Op::Call { into, callee, receiver: None, arguments, awaited: true });
    }
}

/// What an argument is called.
pub(super) fn term_of(arg: &Arg) -> Term {
    match (&arg.term, &arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => match parts.as_slice() {
            [one] => one.clone(),
            parts => Term::Join(parts.to_vec()),
        },
        (Term::Unknown, Shape::Number(number)) => Term::Literal(number.to_string().into()),
        (Term::Unknown, Shape::Bool(truth)) => Term::Literal(truth.to_string().into()),
        (Term::Unknown, Shape::Null) => Term::Literal("null".into()),
        (term, _) => term.clone(),
    }
}

/// The literal text of an argument.
pub(super) fn text_of(arg: &Arg) -> Option<Name> {
    match term_of(arg) {
        Term::Literal(text) => Some(text),
        _ => arg.literal().cloned(),
    }
}

/// What can be handed on of an argument.
pub(super) fn argument_of(arg: &Arg) -> Argument {
    match &arg.shape {
        Shape::Function { function, captures } => {
            Argument::Closure { function: *function, captures: captures.clone() }
        }
        _ => Argument::Term(term_of(arg)),
    }
}

//! Walks over everything that is named inside a step, so that names can be changed in place.

use interlock_model::{
    Span,
    ir::{
        AccessPath, Argument, Block, Callee, Comparison, Condition, Effect, Field, FunctionId, Lock, Name,
        Op, Resource, Term, Via, WriteMode,
    },
};

use crate::{Arg, Shape};

/// What is done to what is found. Whatever is left alone stays as it is.
pub(super) trait Visitor {
    /// A path, after the paths inside its indices.
    fn path(&mut self, path: &mut AccessPath);

    /// A function that is named.
    fn function(&mut self, _function: &mut FunctionId) {}

    /// A member of an object.
    fn member(&mut self, _name: &Name, _arg: &Arg) {}

    /// A place in the source.
    fn span(&mut self, _span: &mut Span) {}

    /// A call that is to be looked up.
    fn site(&mut self, _site: &mut u32) {}
}

pub(super) fn block(visitor: &mut impl Visitor, block: &mut Block) {
    for effect in block {
        self::effect(visitor, effect);
    }
}

/// A step and all steps inside it.
pub(super) fn effect(visitor: &mut impl Visitor, effect: &mut Effect) {
    visitor.span(&mut effect.span);
    op(visitor, &mut effect.op);
    effect.op.blocks_mut().for_each(|inner| block(visitor, inner));
}

/// What a step names itself, without the steps inside it.
pub(super) fn op(visitor: &mut impl Visitor, op: &mut Op) {
    match op {
        Op::Read { of, demands, via, .. } => {
            resource(visitor, of);
            condition(visitor, demands);
            self::via(visitor, via.as_deref_mut());
        }
        Op::Write { to, mode, via, .. } => {
            resource(visitor, to);
            if let WriteMode::Conditional(when) = mode {
                condition(visitor, when);
            }
            self::via(visitor, via.as_deref_mut());
        }
        Op::Delete { of, when, via, .. } => {
            resource(visitor, of);
            if let Some(when) = when {
                condition(visitor, when);
            }
            self::via(visitor, via.as_deref_mut());
        }
        Op::Rename { from, to } => {
            resource(visitor, from);
            resource(visitor, to);
        }
        Op::Derive { term, .. } => self::term(visitor, term),
        Op::Acquire { lock, .. } | Op::Release { lock } => self::lock(visitor, lock),
        Op::Begin { transaction } => via(visitor, Some(&mut transaction.via)),
        Op::End { via, .. } => self::via(visitor, Some(via)),
        Op::Open { handle } | Op::Close { handle } => path(visitor, handle),
        Op::CountIn { group } | Op::CountOut { group } | Op::Drain { group } => path(visitor, group),
        Op::External { service, idempotency, over, .. } => {
            term(visitor, service);
            if let Some(key) = idempotency {
                term(visitor, key);
            }
            if let Some(over) = over {
                path(visitor, over);
            }
        }
        Op::Call { callee, receiver, arguments, .. } => {
            match callee {
                Callee::Function(function) => visitor.function(function),
                Callee::Closure { function, captures } => {
                    visitor.function(function);
                    captures.iter_mut().for_each(|capture| term(visitor, capture));
                }
                Callee::Pending(site) => visitor.site(site),
                Callee::Value(_) | Callee::Named(_) => {}
            }
            if let Some(receiver) = receiver {
                path(visitor, receiver);
            }
            arguments.iter_mut().for_each(|argument| self::argument(visitor, argument));
        }
        Op::Inlined { function, .. } => visitor.function(function),
        Op::Closure { function, captures, .. } => {
            visitor.function(function);
            captures.iter_mut().for_each(|capture| term(visitor, capture));
        }
        Op::New { .. }
        | Op::Check { .. }
        | Op::Suspend
        | Op::Sleep { .. }
        | Op::Spawn { .. }
        | Op::Together { .. }
        | Op::Loop { .. }
        | Op::Try { .. }
        | Op::Exit(_) => {}
    }
}

pub(super) fn argument(visitor: &mut impl Visitor, argument: &mut Argument) {
    match argument {
        Argument::Term(term) => self::term(visitor, term),
        Argument::Closure { function, captures } => {
            visitor.function(function);
            captures.iter_mut().for_each(|capture| term(visitor, capture));
        }
    }
}

fn resource(visitor: &mut impl Visitor, resource: &mut Resource) {
    match resource {
        Resource::File(name) | Resource::Key(name) => term(visitor, name),
        Resource::Row { table, key, .. } => {
            term(visitor, table);
            term(visitor, key);
        }
        Resource::Shared(at) | Resource::Flag(at) | Resource::Stream(at) => path(visitor, at),
    }
}

fn condition(visitor: &mut impl Visitor, Condition(demands): &mut Condition) {
    demands.iter_mut().for_each(|Comparison { with, .. }| term(visitor, with));
}

fn lock(visitor: &mut impl Visitor, lock: &mut Lock) {
    path(visitor, &mut lock.object);
    if let Some(key) = &mut lock.key {
        term(visitor, key);
    }
}

fn via(visitor: &mut impl Visitor, via: Option<&mut Via>) {
    if let Some(Via::Client(at) | Via::Pool(at)) = via {
        path(visitor, at);
    }
}

pub(super) fn term(visitor: &mut impl Visitor, term: &mut Term) {
    match term {
        Term::Path(at) => path(visitor, at),
        Term::Join(parts) => parts.iter_mut().for_each(|part| self::term(visitor, part)),
        Term::Parent(inner) => self::term(visitor, inner),
        Term::Literal(_) | Term::Fresh(_) | Term::TempDir | Term::Any | Term::Unknown => {}
    }
}

pub(super) fn path(visitor: &mut impl Visitor, path: &mut AccessPath) {
    // Steps are shared between copies of a path, and stay so where nothing in them is named.
    if path.fields.iter().any(|field| matches!(field, Field::At(_))) {
        for field in &mut path.fields {
            if let Field::At(index) = field {
                term(visitor, index);
            }
        }
    }
    visitor.path(path);
}

pub(super) fn arg(visitor: &mut impl Visitor, arg: &mut Arg) {
    term(visitor, &mut arg.term);
    match &mut arg.shape {
        Shape::Text(parts) => parts.iter_mut().for_each(|part| term(visitor, part)),
        Shape::Object(members) => {
            for (name, member) in members {
                visitor.member(name, member);
                self::arg(visitor, member);
            }
        }
        Shape::List(items) | Shape::Choice(items) => {
            items.iter_mut().for_each(|item| self::arg(visitor, item))
        }
        Shape::Function { function, captures } => {
            visitor.function(function);
            captures.iter_mut().for_each(|capture| term(visitor, capture));
        }
        Shape::Call(site) => visitor.site(site),
        Shape::Opaque | Shape::Null | Shape::Bool(_) | Shape::Number(_) => {}
    }
}

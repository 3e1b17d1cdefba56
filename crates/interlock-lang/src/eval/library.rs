//! Calls of libraries, handed to the knowledge of them.

use std::{borrow::Cow, sync::Arc};

use interlock_model::{
    Span,
    ir::{AccessPath, Body, Field, FunctionId, Name, Root, Table, Term, Value},
};

use super::{
    evaluator::Evaluator,
    index::{CallAt, Definition},
    target::Reached,
    value::AbstractValue,
    values::bare,
};
use crate::{
    Arg, Call, Kind, Outcome, Shape, Surroundings, Target,
    knowledge::{Engine, Seen},
    module::Site,
};

/// Asks the knowledge what a call does. Writes its steps into the body; nothing is written where it does not know the call.
pub(crate) fn apply<'f>(
    eval: &Evaluator<'_, 'f>,
    number: u32,
    reached: &Reached<'f>,
    at: CallAt,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let site = eval.flat.sites.get(number as usize)?;
    // Most calls are of libraries of which nothing is known. What their objects are is guessed where a name or the method says it.
    let guessed;
    let reached = match reached {
        Reached::Export(library, _) if !eval.knowledge.knows(library) => {
            let callee = site.callee.as_ref()?;
            let (Field::Name(method), fields) = callee.fields.split_last()? else { return None };
            let receiver = AccessPath { root: callee.root.clone(), fields: fields.into() };
            if eval.builtins.is_pure_library(library) || !eval.knowledge.may_guess(&receiver, method) {
                return None;
            }
            guessed = Reached::Other(Some(receiver), method.clone(), AbstractValue::Foreign);
            &guessed
        }
        reached => reached,
    };
    let (arguments, within) = (arguments(eval, site), FunctionId(site.within));
    apply_to(eval, &Applied { number, arguments, within, span: site.span, at }, reached, body)
}

/// A call of a library as a function sees it, which need not be the function in which it stands.
pub(crate) struct Applied<'a> {
    pub(crate) number: u32,
    pub(crate) arguments: Cow<'a, [Arg]>,
    /// Whose values are in the arguments.
    pub(crate) within: FunctionId,
    pub(crate) span: Span,
    pub(crate) at: CallAt,
}

/// Asks the knowledge what a call of something does.
pub(crate) fn apply_to<'f>(
    eval: &Evaluator<'_, 'f>,
    applied: &Applied<'_>,
    reached: &Reached<'f>,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let site = eval.flat.sites.get(applied.number as usize)?;
    let around = Around { eval, at: applied.within };
    let call = |target: Target<'_>, body: &mut Body<'_>| {
        let call = Call {
            span: applied.span,
            target,
            construct: site.construct,
            arguments: &applied.arguments,
            into: applied.at.into,
            awaited: applied.at.awaited,
            surroundings: &around,
        };
        eval.knowledge.apply(&call, body)
    };
    match reached {
        Reached::Export(library, path) => {
            call(Target::Export { library, path }, body).or_else(|| {
                // A ready-made object of a library: `redis.get(…)` where `redis` is what the library exports.
                let (object, method) = path.rsplit_once('.').unwrap_or(("", path));
                let kind = eval.knowledge.kind(library, object)?;
                let receiver = site.callee.as_ref()?;
                let receiver = AccessPath {
                    root: receiver.root.clone(),
                    fields: receiver.fields.split_last().map(|(_, fields)| fields.into()).unwrap_or_default(),
                };
                call(Target::Method { kind: &kind, receiver: &receiver, name: method }, body)
            })
        }
        Reached::Method(kind, receiver, name) => {
            let receiver = eval.alias(applied.within, receiver);
            call(Target::Method { kind, receiver: &receiver, name }, body)
        }
        Reached::Other(receiver, name, _) => call(Target::Other { receiver: receiver.as_ref(), name }, body),
        Reached::Collection(None, receiver, name) if !asks_for_object(eval, applied) => {
            call(Target::Other { receiver: Some(receiver), name }, body)
        }
        Reached::Function(..)
        | Reached::Class(_)
        | Reached::OneOfClasses(_)
        | Reached::Collection(..)
        | Reached::Member(..)
        | Reached::OneOf(..)
        | Reached::Wrapped(_)
        | Reached::Value(_)
        | Reached::Super => None,
    }
}

/// A method of an object of a library that is called without looking like a call.
pub(crate) struct Entry<'a> {
    /// Where it is called.
    pub(crate) at: FunctionId,
    pub(crate) span: Span,
    pub(crate) kind: &'a Kind,
    pub(crate) object: &'a AccessPath,
    pub(crate) method: &'a str,
    pub(crate) into: Option<Value>,
}

/// Asks the knowledge what such a call does.
pub(crate) fn apply_method(
    eval: &Evaluator<'_, '_>,
    entry: Entry<'_>,
    arguments: &[Arg],
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let receiver = eval.alias(entry.at, entry.object);
    let call = Call {
        span: entry.span,
        target: Target::Method { kind: entry.kind, receiver: &receiver, name: entry.method },
        construct: false,
        arguments,
        into: entry.into,
        awaited: false,
        surroundings: &Around { eval, at: entry.at },
    };
    eval.knowledge.apply(&call, body)
}

/// Whether a call asks for an object by an identity that was made for it, as one gets at the objects of a Worker: nothing is read there.
fn asks_for_object(eval: &Evaluator<'_, '_>, applied: &Applied<'_>) -> bool {
    let Some(Arg { term, shape, .. }) = applied.arguments.first() else { return false };
    let site = match (shape, term) {
        (Shape::Call(site), _) => Some(*site),
        (_, Term::Path(AccessPath { root: Root::Value(value), fields })) if fields.is_empty() => {
            match eval.definition(applied.within, *value) {
                Some(Definition::Call(site)) => Some(*site),
                _ => None,
            }
        }
        _ => None,
    };
    let callee = site.and_then(|site| eval.flat.sites.get(site as usize)?.callee.as_ref());
    matches!(
        callee.and_then(|callee| callee.fields.last()),
        Some(Field::Name(name)) if eval.knowledge.tables().lexicon().identities.contains(&**name)
    )
}

/// The arguments of a call. A function that is only named in it is handed over like one that is written there.
fn arguments<'f>(eval: &Evaluator<'_, 'f>, site: &'f Site) -> Cow<'f, [Arg]> {
    let mut arguments = Cow::Borrowed(&*site.arguments);
    let at = FunctionId(site.within);
    for (number, arg) in site.arguments.iter().enumerate() {
        let named = match &arg.shape {
            Shape::Opaque | Shape::Choice(_) => matches!(arg.term, Term::Path(_)),
            Shape::Call(_) => true,
            _ => false,
        };
        if !named {
            continue;
        }
        // Which one it is may depend on the callers, and is known where they are followed.
        let passed_on = || bare(&arg.term).is_some_and(|value| eval.is_for_callers_to_say(at, value));
        if let AbstractValue::Function(function, _) = eval.arg(at, arg)
            && !passed_on()
        {
            let captures = eval.captures(at, function).unwrap_or_default();
            if let Some(arg) = arguments.to_mut().get_mut(number) {
                arg.shape = Shape::Function { function, captures };
            }
        }
    }
    arguments
}

/// What is known of the things that a call names.
#[derive(Debug)]
struct Around<'m, 'f> {
    eval: &'m Evaluator<'m, 'f>,
    at: FunctionId,
}

impl Surroundings for Around<'_, '_> {
    fn site(&self, site: u32) -> Option<Kind> {
        match self.eval.result(site) {
            AbstractValue::Kind(kind) => Some(Arc::unwrap_or_clone(kind)),
            AbstractValue::Instance(class, _) => {
                let made = self.eval.flat.sites.get(site as usize).filter(|made| made.construct)?;
                self.eval.row(class, &made.arguments)
            }
            _ => None,
        }
    }

    fn kind(&self, path: &AccessPath) -> Option<Kind> {
        match self.eval.path(self.at, path) {
            AbstractValue::Kind(kind) => Some(Arc::unwrap_or_clone(kind)),
            AbstractValue::Export(library, export) => self.eval.knowledge.kind(&library, &export),
            _ => None,
        }
    }

    fn class(&self, path: &AccessPath) -> Option<Name> {
        let class = match self.eval.path(self.at, path) {
            AbstractValue::Instance(class, _) => self.eval.flat.classes.get(class)?,
            _ => return None,
        };
        Some(class.name.rsplit("::").next()?.into())
    }

    fn says_of_class(&self, class: &str, name: &str) -> bool {
        let classes = self.eval.flat.classes.iter().map(|class| &class.name);
        let mut named = classes.filter(|full| full.rsplit("::").next() == Some(class));
        let (first, member) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
        named.any(|full| {
            let Some(arg) = self.eval.initial(&format!("{full}.{first}")) else { return false };
            let has = |member: &str| matches!(&arg.shape, Shape::Object(all) if all.iter().any(|(name, _)| **name == *member));
            member.is_none_or(has)
        })
    }

    fn initial(&self, path: &AccessPath) -> Option<Arg> {
        let place = self.eval.place_of(self.at, path)?;
        self.eval.initial(&place)
    }

    fn listed(&self, site: u32) -> Option<Arg> {
        let site = self.eval.flat.sites.get(site as usize)?;
        let Reached::Function(function, _) = self.eval.reached(site) else { return None };
        let about = self.eval.flat.about.get(function.0 as usize)?;
        let [Arg { shape: Shape::List(parts), .. }] = &*about.returned else { return None };
        // A part is the same for every caller, or what this one has handed over.
        let part = |part: &Arg| match &part.term {
            Term::Path(AccessPath { root: Root::Value(value), fields }) if fields.is_empty() => {
                match self.eval.definition(function, *value)? {
                    Definition::Parameter(number) => site.arguments.get(*number).cloned(),
                    _ => None,
                }
            }
            Term::Path(AccessPath { root: Root::Global(_), .. }) | Term::Literal(_) => Some(part.clone()),
            _ => None,
        };
        let parts: Vec<Arg> = parts.iter().map(part).collect::<Option<_>>()?;
        let values = parts.iter().flat_map(|part| part.values.iter().copied()).collect();
        Some(Arg { term: Term::Unknown, values, shape: Shape::List(parts) })
    }

    fn keys(&self, table: &str) -> &[Vec<Name>] {
        self.eval.keys.get(&Table::plain(table)).map_or(&[], Vec::as_slice)
    }

    fn engine(&self) -> Option<Engine> {
        self.eval.engine
    }

    fn seen(&self) -> Option<&Seen> {
        Some(&self.eval.seen)
    }
}

impl Evaluator<'_, '_> {
    /// What the one assignment to a place sets it to, where that is written out.
    pub(crate) fn initial(&self, place: &str) -> Option<Arg> {
        let mut variables = self.index.variables(place);
        let arg = match (variables.next(), variables.next()) {
            (Some(variable), None) => self.flat.variables.get(variable)?.initial.as_ref()?,
            (Some(_), Some(_)) => return None,
            // A member of an object that is written out.
            (None, _) => {
                let (whole, member) = place.rsplit_once('.')?;
                return self.initial(whole)?.member(member).cloned();
            }
        };
        let written = matches!(
            arg.shape,
            Shape::Text(_)
                | Shape::Object(_)
                | Shape::List(_)
                | Shape::Number(_)
                | Shape::Bool(_)
                | Shape::Null
        );
        if written {
            return Some(arg.from_outside());
        }
        match (&arg.term, &arg.shape) {
            (Term::Path(AccessPath { root: Root::Value(_), .. }) | Term::Unknown, _)
            | (_, Shape::Call(_)) => None,
            _ => Some(arg.from_outside()),
        }
    }
}

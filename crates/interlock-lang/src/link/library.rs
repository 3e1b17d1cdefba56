//! Calls of libraries, handed to the knowledge of them.

use std::{borrow::Cow, rc::Rc};

use interlock_model::{
    Span,
    ir::{AccessPath, Body, Field, FunctionId, Name, Root, Table, Term},
};

use super::{
    index::{CallAt, Definition},
    meaning::{Meaning, Meanings},
    target::Reached,
    values::bare,
};
use crate::{Arg, Call, Kind, Outcome, Shape, Surroundings, Target, knowledge::Seen, module::Site};

/// Asks the knowledge what a call does. Writes its steps into the body; nothing is written where it does not know the call. What the
/// call reaches is looked up where the caller has not done so.
pub(super) fn apply<'f>(
    meanings: &Meanings<'f>,
    number: u32,
    reached: Option<&Reached<'f>>,
    at: CallAt,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let site = meanings.flat.sites.get(number as usize)?;
    let looked_up;
    let reached = match reached {
        Some(reached) => reached,
        None => {
            looked_up = meanings.reached(site);
            &looked_up
        }
    };
    // Most calls are of libraries of which nothing is known.
    if matches!(reached, Reached::Export(library, _) if !meanings.knowledge.knows(library)) {
        return None;
    }
    let (arguments, within) = (arguments(meanings, site), FunctionId(site.within));
    apply_to(meanings, &Applied { number, arguments, within, span: site.span, at }, reached, body)
}

/// A call of a library as a function sees it, which need not be the function in which it stands.
pub(super) struct Applied<'a> {
    pub(super) number: u32,
    pub(super) arguments: Cow<'a, [Arg]>,
    /// Whose values are in the arguments.
    pub(super) within: FunctionId,
    pub(super) span: Span,
    pub(super) at: CallAt,
}

/// Asks the knowledge what a call of something does.
pub(super) fn apply_to<'f>(
    meanings: &Meanings<'f>,
    applied: &Applied<'_>,
    reached: &Reached<'f>,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let site = meanings.flat.sites.get(applied.number as usize)?;
    let around = Around { meanings, at: applied.within };
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
        meanings.knowledge.apply(&call, body)
    };
    match reached {
        Reached::Export(library, path) => {
            call(Target::Export { library, path }, body).or_else(|| {
                // A ready-made object of a library: `redis.get(…)` where `redis` is what the library exports.
                let (object, method) = path.rsplit_once('.').unwrap_or(("", path));
                let kind = meanings.knowledge.kind(library, object)?;
                let receiver = site.callee.as_ref()?;
                let receiver = AccessPath {
                    root: receiver.root.clone(),
                    fields: receiver.fields.split_last().map(|(_, fields)| fields.into()).unwrap_or_default(),
                };
                call(Target::Method { kind: &kind, receiver: &receiver, name: method }, body)
            })
        }
        Reached::Method(kind, receiver, name) => {
            let receiver = meanings.alias(applied.within, receiver);
            call(Target::Method { kind, receiver: &receiver, name }, body)
        }
        Reached::Other(receiver, name, _) => call(Target::Other { receiver: receiver.as_ref(), name }, body),
        Reached::Collection(None, receiver, name) if !asks_for_object(meanings, applied) => {
            call(Target::Other { receiver: Some(receiver), name }, body)
        }
        Reached::Function(..)
        | Reached::Class(_)
        | Reached::Collection(..)
        | Reached::Member(..)
        | Reached::OneOf(..)
        | Reached::Value(_)
        | Reached::Super => None,
    }
}

/// Whether a call asks for an object by an identity that was made for it, as one gets at the objects of a Worker: nothing is read there.
fn asks_for_object(meanings: &Meanings<'_>, applied: &Applied<'_>) -> bool {
    let Some(Arg { term, shape, .. }) = applied.arguments.first() else { return false };
    let site = match (shape, term) {
        (Shape::Call(site), _) => Some(*site),
        (_, Term::Path(AccessPath { root: Root::Value(value), fields })) if fields.is_empty() => {
            match meanings.definition(applied.within, *value) {
                Some(Definition::Call(site)) => Some(*site),
                _ => None,
            }
        }
        _ => None,
    };
    let callee = site.and_then(|site| meanings.flat.sites.get(site as usize)?.callee.as_ref());
    matches!(
        callee.and_then(|callee| callee.fields.last()),
        Some(Field::Name(name)) if meanings.knowledge.tables().lexicon().identities.contains(&**name)
    )
}

/// The arguments of a call. A function that is only named in it is handed over like one that is written there.
fn arguments<'f>(meanings: &Meanings<'f>, site: &'f Site) -> Cow<'f, [Arg]> {
    let mut arguments = Cow::Borrowed(&*site.arguments);
    let at = FunctionId(site.within);
    for (number, arg) in site.arguments.iter().enumerate() {
        let named = match &arg.shape {
            Shape::Opaque => matches!(arg.term, Term::Path(_)),
            Shape::Call(_) => true,
            _ => false,
        };
        if !named {
            continue;
        }
        // Which one it is may depend on the callers, and is known where they are followed.
        let passed_on = || bare(&arg.term).is_some_and(|value| meanings.is_for_callers_to_say(at, value));
        if let Meaning::Function(function) = meanings.arg(at, arg)
            && !passed_on()
        {
            let captures = meanings.captures(at, function).unwrap_or_default();
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
    meanings: &'m Meanings<'f>,
    at: FunctionId,
}

impl Surroundings for Around<'_, '_> {
    fn site(&self, site: u32) -> Option<Kind> {
        match self.meanings.result(site) {
            Meaning::Kind(kind) => Some(Rc::unwrap_or_clone(kind)),
            _ => None,
        }
    }

    fn kind(&self, path: &AccessPath) -> Option<Kind> {
        match self.meanings.path(self.at, path) {
            Meaning::Kind(kind) => Some(Rc::unwrap_or_clone(kind)),
            Meaning::Export(library, export) => self.meanings.knowledge.kind(&library, &export),
            _ => None,
        }
    }

    fn initial(&self, path: &AccessPath) -> Option<Arg> {
        let place = self.meanings.place_of(self.at, path)?;
        self.meanings.initial(&place)
    }

    fn keys(&self, table: &str) -> &[Vec<Name>] {
        self.meanings.keys.get().and_then(|keys| keys.get(&Table::plain(table))).map_or(&[], Vec::as_slice)
    }

    fn seen(&self) -> Option<&Seen> {
        Some(&self.meanings.seen)
    }
}

impl Meanings<'_> {
    /// What the one assignment to a place sets it to, where that is written out.
    pub(super) fn initial(&self, place: &str) -> Option<Arg> {
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

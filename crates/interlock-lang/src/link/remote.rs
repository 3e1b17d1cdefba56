//! Calls of a service's client of which nothing is known but how they are called: `api.getRule(id)`, then `api.updateRule(id, rule)`.
//!
//! Such a client asks, puts in place and adds under an address that the names make up: what the verb is about, and which one of it. What else it
//! does is as little known as before, so the call still counts as one that leads nowhere.

use interlock_model::ir::{AccessPath, Block, Change, Effect, FunctionId, Op, Term, Value};

use super::rewrite::{Rewriter, Standing};
use crate::{
    Arg, Shape,
    eval::bare,
    knowledge::{Verb, verb_of},
    val::merge,
};

/// What a call is handed first that says how long it may take, and nothing of what it is about.
const CONTEXTS: &[&str] = &["ctx", "context"];

/// How members are called that say which one is meant, at the end of their names and in small letters.
const NAMES: &[&str] = &["id", "key", "slug", "path", "range"];

/// What an object is called that speaks for a service, at the end of its name and in small letters.
const SPEAKERS: &[&str] = &["client", "api", "sdk"];

impl<'f> Rewriter<'_, 'f> {
    /// Writes the request that a call is by its name; `false` if it is none. `object` is whose function it is, as it is written.
    pub(super) fn remote(
        &mut self,
        standing: &Standing<'f>,
        object: &str,
        name: &str,
        out: &mut Block,
    ) -> bool {
        let waits = standing.awaited || self.eval.semantics.waits_unsaid;
        let arguments = match standing.site.arguments.split_first() {
            Some((first, rest)) if self.is_context(first) => rest,
            _ => &standing.site.arguments,
        };
        let hands_function = arguments.iter().any(|arg| matches!(arg.shape, Shape::Function { .. }));
        if !waits || hands_function {
            return false;
        }
        let Some((verb, noun)) = verb_of(name) else { return false };
        let change = match verb {
            Verb::Asks => Change::None,
            Verb::Puts => Change::Settled,
            Verb::Adds => Change::Unknown,
        };
        let asks = change == Change::None;
        // What nobody looks at was not asked for.
        if noun.is_empty() && !object.contains('.')
            || !asks && arguments.is_empty()
            || asks && standing.into.is_none()
        {
            return false;
        }
        let about = if noun.is_empty() { object.to_owned() } else { format!("{object}.{noun}") };
        // What is added has no name yet that others know.
        let which = arguments.first().filter(|_| change != Change::Unknown);
        let which = which.and_then(|first| self.which(first));
        let service = match which {
            Some(which) => {
                let mut parts = vec![Term::Literal(format!("{about}/").into())];
                match which {
                    Term::Join(inner) => parts.extend(inner),
                    one => parts.push(one),
                }
                Term::Join(parts)
            }
            None => Term::Literal(about.into()),
        };
        let mut from: Vec<Value> = vec![];
        if !asks {
            arguments.iter().for_each(|arg| merge(&mut from, &arg.values));
        }
        let op = Op::External { into: standing.into, service, change, from, idempotency: None, over: None };
        out.push(Effect { span: standing.span, op });
        true
    }

    /// The same of a method of an object of which nothing is known: it must be called like what speaks for a service.
    pub(super) fn remote_method(
        &mut self,
        standing: &Standing<'f>,
        receiver: Option<&AccessPath>,
        name: &str,
        is_library: bool,
        out: &mut Block,
    ) -> bool {
        let Some(receiver) = receiver else { return false };
        let object = self.written(receiver);
        let speaks = |word: &str| {
            let word = word.to_lowercase();
            SPEAKERS.iter().any(|speaker| word.ends_with(speaker))
        };
        let is_library = is_library && standing.awaited;
        (is_library || object.split('.').any(speaks)) && self.remote(standing, &object, name, out)
    }

    /// Whether an argument is what a call is bounded by.
    fn is_context(&self, arg: &Arg) -> bool {
        let name =
            bare(&arg.term).and_then(|value| self.values.get(value.0 as usize)).map(|info| &*info.name);
        name.is_some_and(|name| CONTEXTS.contains(&name))
    }

    /// Which one a call is about: its first argument, or what the members of that say by their names.
    fn which(&self, first: &Arg) -> Option<Term> {
        match &first.shape {
            Shape::Object(members) => {
                let named = |name: &str| {
                    let name = name.to_lowercase();
                    NAMES.iter().any(|end| name.ends_with(end))
                };
                let mut found: Vec<(&str, Term)> = members
                    .iter()
                    .filter(|(name, _)| named(name))
                    .map(|(name, member)| (&**name, term_of(member)))
                    .filter(|(_, term)| *term != Term::Unknown)
                    .collect();
                found.sort_by(|one, other| one.0.cmp(other.0));
                match found.len() {
                    0 => None,
                    1 => found.pop().map(|(_, term)| term),
                    _ => Some(Term::Join(found.into_iter().map(|(_, term)| term).collect())),
                }
            }
            Shape::Opaque => match bare(&first.term).and_then(|value| self.made_here(value)) {
                Some(made) => self.which(made),
                None => {
                    Some(first.term.clone()).filter(|term| matches!(term, Term::Path(_) | Term::Literal(_)))
                }
            },
            Shape::Text(_) => Some(term_of(first)),
            // What a call gave: `const id = checked(given)`.
            Shape::Call(_) | Shape::Choice(_) => {
                Some(first.term.clone()).filter(|term| matches!(term, Term::Path(_) | Term::Literal(_)))
            }
            _ => None,
        }
    }

    /// The object that a variable was made as.
    fn made_here(&self, value: Value) -> Option<&'f Arg> {
        let FunctionId(id) = self.id;
        let about = self.eval.flat.about.get(id as usize)?;
        let (_, made) = about.locals.iter().find(|(local, _)| *local == value)?;
        matches!(made.shape, Shape::Object(_)).then_some(made)
    }
}

/// What an argument is called.
fn term_of(arg: &Arg) -> Term {
    match (&arg.term, &arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => match parts.as_slice() {
            [one] => one.clone(),
            parts => Term::Join(parts.to_vec()),
        },
        (term, _) => term.clone(),
    }
}

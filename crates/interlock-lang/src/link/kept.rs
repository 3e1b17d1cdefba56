//! Entries of what a library keeps: reading, assigning and deleting one is a call, though nothing in the source looks like one.
//!
//! ```text
//! with shelve.open("counts") as shelf:
//!     seen = shelf[name]           # reads the entry from the file
//!     shelf[name] = seen + 1       # writes it there
//!     del shelf[name]              # deletes it
//! ```
//!
//! Which objects have such entries says the knowledge of libraries, by the methods `__getitem__`, `__setitem__` and `__delitem__`. What is changed inside of
//! an entry that was read (`shelf["a"]["b"] = 1`) changes a copy, and is left as it is.

use interlock_model::ir::{AccessPath, Block, Body, Effect, Field, Op, Resource, Term, Value};

use super::rewrite::Rewriter;
use crate::{
    Arg, Kind, Shape,
    eval::{AbstractValue, library},
};

/// How deep in an object of a library the entry may be: `self.state.cache[key]` is found at its end.
const DEEPEST: usize = 8;

impl Rewriter<'_, '_> {
    /// Whether a step may be about an entry that a library keeps; asked first, because it is cheap.
    pub(super) fn may_be_kept(&self, op: &Op) -> bool {
        self.eval.keeps_entries && path_of(op).is_some_and(|path| !path.fields.is_empty())
    }

    /// Puts what the library does in the place of a step about one of its entries; `false` if it is about none.
    pub(super) fn run_entry(&mut self, effect: &Effect, out: &mut Block) -> bool {
        if !self.may_be_kept(&effect.op) {
            return false;
        }
        let Some(path) = path_of(&effect.op) else { return false };
        let Some((kind, object, key, is_entry)) = self.kept(path) else { return false };
        let key = key_of(&key, self.eval.builtins);
        let (method, into, arguments) = match &effect.op {
            Op::Write { from, outcome, .. } if is_entry => {
                ("__setitem__", *outcome, vec![key, Arg::opaque(Term::Unknown, from.clone())])
            }
            Op::Delete { outcome, .. } if is_entry => ("__delitem__", *outcome, vec![key]),
            Op::Read { into, .. } | Op::Derive { into, .. } => ("__getitem__", Some(*into), vec![key]),
            _ => return false,
        };
        let mut body = Body::over(self.values, effect.span);
        let called = library::apply_method(
            self.eval,
            library::Entry { at: self.id, span: effect.span, kind: &kind, object: &object, method, into },
            &arguments,
            &mut body,
        );
        if called.is_none() {
            return false;
        }
        out.extend(body.finish());
        true
    }

    /// The object of a library on the way to an entry, the key behind it, and whether that is where the way ends.
    fn kept(&self, path: &AccessPath) -> Option<(Kind, AccessPath, Field, bool)> {
        for used in (0..path.fields.len()).take(DEEPEST) {
            let (before, behind) = path.fields.split_at_checked(used)?;
            let object = AccessPath { root: path.root.clone(), fields: before.into() };
            if let AbstractValue::Kind(kind) = self.eval.path(self.id, &object)
                && self.eval.knowledge.keeps_entries(&kind.name)
            {
                return Some((kind.as_ref().clone(), object, behind.first()?.clone(), behind.len() == 1));
            }
        }
        None
    }
}

/// The place that a step is about.
fn path_of(op: &Op) -> Option<&AccessPath> {
    match op {
        Op::Read { of: Resource::Shared(path), .. }
        | Op::Write { to: Resource::Shared(path), .. }
        | Op::Delete { of: Resource::Shared(path), .. }
        | Op::Derive { term: Term::Path(path), .. } => Some(path),
        _ => None,
    }
}

fn key_of(field: &Field, builtins: &crate::tables::Builtins) -> Arg {
    let mut term = match field {
        Field::Name(name) => Term::Literal(name.clone()),
        Field::At(term) => term.clone(),
    };
    super::rewrite::fresh(builtins, &mut term);
    match term {
        Term::Literal(text) => Arg {
            term: Term::Literal(text.clone()),
            values: vec![],
            shape: Shape::Text(vec![Term::Literal(text)]),
        },
        term => {
            let values = values_in(&term);
            Arg::opaque(term, values)
        }
    }
}

fn values_in(term: &Term) -> Vec<Value> {
    match term {
        Term::Path(AccessPath { root: interlock_model::ir::Root::Value(value), .. }) => vec![*value],
        Term::Join(parts) => parts.iter().flat_map(values_in).collect(),
        _ => vec![],
    }
}

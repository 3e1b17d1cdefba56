//! Comparisons with texts that have a name: `case Method.CALL`, `status !== Status.OPEN`. A check of two values of which one is such a
//! text is a check of the other for the text, as if it were written there.
//!
//! This comes before anything is asked of calls, so it goes by names alone: a variable of a file, or a member of an object or an
//! enumeration that is written out there, which nobody assigns to.

use interlock_model::ir::{
    AccessPath, Block, Effect, Field, Function, Name, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flat::Flat;
use crate::{Arg, Shape};

/// How deep a text stands in an object that is written out.
const DEEPEST: usize = 3;

/// Puts the texts where they are compared with.
pub(super) fn settle(flat: &Flat, functions: &mut [Function]) {
    let texts = texts(flat, functions);
    if texts.is_empty() {
        return;
    }
    for function in functions {
        let mut known: FxHashMap<Value, Name> = FxHashMap::default();
        for effect in function.effects() {
            if let Some((into, path)) = found_at(&effect.op)
                && let Some(text) = place(path).and_then(|place| texts.get(&place))
            {
                known.insert(into, text.clone());
            }
        }
        if !known.is_empty() {
            block(&mut function.body, &known);
        }
    }
}

/// A value that is what is found at a path.
fn found_at(op: &Op) -> Option<(Value, &AccessPath)> {
    match op {
        Op::Derive { into, term: Term::Path(path), .. }
        | Op::Read { into, of: Resource::Shared(path), .. } => Some((*into, path)),
        _ => None,
    }
}

/// The texts that are known by a name, each by its place.
fn texts(flat: &Flat, functions: &[Function]) -> FxHashMap<String, Name> {
    let mut assigned: FxHashSet<String> = FxHashSet::default();
    let mut texts: FxHashMap<String, Name> = FxHashMap::default();
    for variable in &flat.variables {
        let (Some(place), Some(initial)) = (place(&variable.path), &variable.initial) else { continue };
        // What is set in two places is one or the other.
        if texts.contains_key(&place) {
            assigned.insert(place.clone());
        }
        inside(&place, initial, DEEPEST, &mut texts);
    }
    for effect in functions.iter().flat_map(Function::effects) {
        if let Op::Write { to: Resource::Shared(path), .. } = &effect.op
            && let Some(place) = place(path)
        {
            assigned.insert(place);
        }
    }
    texts.retain(|text, _| !assigned.contains(text));
    texts
}

/// The texts in something that is written out.
fn inside(place: &str, arg: &Arg, depth: usize, texts: &mut FxHashMap<String, Name>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Some(text) = arg.literal() {
        texts.insert(place.to_owned(), text.clone());
    } else if let Shape::Object(members) = &arg.shape {
        for (name, member) in members {
            inside(&format!("{place}.{name}"), member, depth, texts);
        }
    }
}

/// A path from a global by names only, as one name.
fn place(path: &AccessPath) -> Option<String> {
    let Root::Global(root) = &path.root else { return None };
    let mut place = root.to_string();
    for field in &path.fields {
        let Field::Name(name) = field else { return None };
        place.push('.');
        place.push_str(name);
    }
    Some(place)
}

fn block(steps: &mut Block, known: &FxHashMap<Value, Name>) {
    for Effect { op, .. } in steps {
        if let Op::Check { on, equal: equal @ None, asks, .. } = op
            && asks.is_empty()
            && let [one, other] = on.as_slice()
        {
            let found = match (known.get(one), known.get(other)) {
                (None, Some(text)) => Some((text, *one)),
                (Some(text), None) => Some((text, *other)),
                _ => None,
            };
            if let Some((text, asked)) = found {
                *equal = Some(text.clone());
                *on = vec![asked];
            }
        }
        op.blocks_mut().for_each(|inner| block(inner, known));
    }
}

//! What functions put together and give back: `return { row, file }`, which callers take apart: `const { row, file } = await find(id)`. So it is
//! with what they hand over: `run(args, { pool, config })`.

use std::collections::HashMap;

use interlock_model::ir::{
    AccessPath, Argument, Callee, Exit, Field, Function, FunctionId, Member, Name, Op, Term, Value,
};

use super::flat::{Flat, number};
use crate::{Arg, Shape, eval::bare};

/// How deep objects stand in what is given back and are still taken apart.
const DEEPEST: usize = 3;

/// How many members of one object are kept.
const MOST_MEMBERS: usize = 32;

/// How many objects of one function are kept.
const MOST_OBJECTS: usize = 200;

/// The objects that each function puts together, and their members. This goes by the calls as they were written.
pub(super) fn made(flat: &Flat, functions: &[Function]) -> HashMap<FunctionId, Vec<(Value, Vec<Member>)>> {
    let mut found = HashMap::new();
    for (id, (function, about)) in functions.iter().zip(&flat.about).enumerate() {
        let mut objects: Vec<(Value, Vec<Member>)> = vec![];
        let mut note = |value: Value, arg: &Arg| {
            let mut all = vec![];
            add(arg, &[], DEEPEST, &mut all);
            let members = kept(all);
            if !members.is_empty() && objects.len() < MOST_OBJECTS {
                objects.push((value, members));
            }
        };
        about.locals.iter().for_each(|(value, arg)| note(*value, arg));
        for effect in function.effects() {
            let Op::Call { callee: Callee::Pending(site), arguments, .. } = &effect.op else { continue };
            let Some(site) = flat.sites.get(*site as usize) else { continue };
            for (given, arg) in arguments.iter().zip(&site.arguments) {
                if let (Argument::Term(term), Shape::Object(_)) = (given, &arg.shape)
                    && let Some(value) = bare(term)
                {
                    note(value, arg);
                }
            }
        }
        if !objects.is_empty() {
            found.insert(FunctionId(number(id)), objects);
        }
    }
    found
}

/// Those of one place.
fn kept(all: Vec<(Vec<Name>, Option<AccessPath>)>) -> Vec<Member> {
    let of_one_place = all.into_iter().filter_map(|(names, is)| Some(Member { names, is: is? }));
    of_one_place.take(MOST_MEMBERS).collect()
}

/// The members of what each function gives back that are one place whichever way it returns.
pub(super) fn returned(flat: &Flat, functions: &[Function]) -> HashMap<FunctionId, Vec<Member>> {
    let mut found = HashMap::new();
    for (id, (function, about)) in functions.iter().zip(&flat.about).enumerate() {
        if about.returned.is_empty() {
            continue;
        }
        let objects = || about.returned.iter().filter(|arg| matches!(arg.shape, Shape::Object(_)));
        let full = objects().filter(|arg| !arg.values.is_empty()).count();
        // What else it gives back, by a name, may be anything.
        if full != gives_back(function) {
            continue;
        }
        let mut all: Vec<(Vec<Name>, Option<AccessPath>)> = vec![];
        objects().for_each(|object| add(object, &[], DEEPEST, &mut all));
        let members = kept(all);
        if !members.is_empty() {
            found.insert(FunctionId(number(id)), members);
        }
    }
    found
}

/// How often a function gives something back.
fn gives_back(function: &Function) -> usize {
    let gives = |op: &Op| matches!(op, Op::Exit(Exit::Return(values)) if !values.is_empty());
    function.effects().filter(|effect| gives(&effect.op)).count()
}

/// Adds the members of an object. One that is another place elsewhere is none.
fn add(object: &Arg, before: &[Name], depth: usize, all: &mut Vec<(Vec<Name>, Option<AccessPath>)>) {
    let (Shape::Object(members), Some(depth)) = (&object.shape, depth.checked_sub(1)) else { return };
    // What is spread behind a member may be put in its place.
    let spread = members.iter().rposition(|(name, _)| &**name == "...").map_or(0, |last| last + 1);
    for (name, member) in members.iter().skip(spread) {
        let names: Vec<Name> = before.iter().chain([name]).cloned().collect();
        if matches!(member.shape, Shape::Object(_)) {
            add(member, &names, depth, all);
            continue;
        }
        // A function is told apart by what it takes along, a text or a number is no place.
        let place = match (&member.term, &member.shape) {
            // What is given is taken before what stands in for it: `given.pool ?? new Pool()`.
            (_, Shape::Choice(ways)) => ways.iter().find_map(|way| match &way.term {
                Term::Path(path) => plain(path),
                _ => None,
            }),
            (Term::Path(path), Shape::Opaque | Shape::Call(_) | Shape::Text(_)) => plain(path),
            _ if matches!(member.shape, Shape::Null) => continue,
            _ => None,
        };
        match all.iter_mut().find(|(known, _)| *known == names) {
            Some((_, is)) if *is != place => *is = None,
            Some(_) => {}
            None => all.push((names, place)),
        }
    }
}

/// A place with nothing computed in it.
fn plain(path: &AccessPath) -> Option<AccessPath> {
    let is_named = path.fields.iter().all(|field| matches!(field, Field::Name(_)));
    is_named.then(|| path.clone())
}

//! When what one call tears down is what another one uses: places in memory as two entry points find them, and what is a part of them.

use interlock_model::ir::{AccessPath, Field, Lock, Name, Op, Resource, Root, Term, Value};

use crate::view::{At, Entry, Kinds};

/// How many helpers in a row may hand something on,
const DEEPEST: usize = 3;
/// and in how many ways each of them.
const MOST_RETURNS: usize = 4;

/// The map of an entry of one.
pub(super) fn map_of(path: &AccessPath) -> Option<AccessPath> {
    let (last, fields) = path.fields.split_last()?;
    let fields = fields.iter().cloned().collect();
    matches!(last, Field::At(_)).then(|| AccessPath { root: path.root.clone(), fields })
}

/// Whether two entry points mean the same place. Who holds the object that has it may call it otherwise: there it is the member of that
/// name in a method of the same class.
pub(super) fn is_same_place(
    (entry, at, ours): (&Entry<'_>, At, &AccessPath),
    (other, there, theirs): (&Entry<'_>, At, &AccessPath),
) -> bool {
    let owner = |entry: &Entry<'_>, at: At| entry.program.function(entry.function_of(at))?.owner.clone();
    let is_global = matches!((&theirs.root, &ours.root), (Root::Global(_), Root::Global(_)));
    let is_named = || theirs.fields == ours.fields && other.path_text(theirs) == entry.path_text(ours);
    let is_member = || {
        let class = owner(entry, at);
        class.is_some() && theirs.fields.last() == ours.fields.last() && owner(other, there) == class
    };
    is_global && theirs == ours || !is_global && is_named() || is_member()
}

/// The same of an entry of a map, or of a place that has a name of its own.
pub(super) fn is_same_thing(
    (entry, at, ours): (&Entry<'_>, At, &AccessPath),
    (other, there, theirs): (&Entry<'_>, At, &AccessPath),
) -> bool {
    match (map_of(ours), map_of(theirs)) {
        (Some(ours), Some(theirs)) => is_same_place((entry, at, &ours), (other, there, &theirs)),
        (None, None) => is_same_place((entry, at, ours), (other, there, theirs)),
        _ => false,
    }
}

/// Which part of what is kept at a place a handle is; all of it is the empty part.
pub(super) fn part_of(entry: &Entry<'_>, handle: &AccessPath, place: &AccessPath) -> Option<Vec<Field>> {
    let resolved = entry.alias().resolve_path(handle);
    let is_any = |field: &Field| matches!(field, Field::At(Term::Unknown));
    let same = |(one, two): (&Field, &Field)| one == two || is_any(one) && is_any(two);
    let is_entry = || {
        place.fields.last().is_some_and(is_any)
            && resolved.root == place.root
            && resolved.fields.len() >= place.fields.len()
            && resolved.fields.iter().zip(&place.fields).all(same)
    };
    if resolved.begins_with(place) || is_entry() {
        return Some(resolved.fields.iter().skip(place.fields.len()).cloned().collect());
    }
    // What comes back from a helper is one of several things, and known by the value that stands for it.
    let is_look = |read: &At| matches!(entry.resource(*read), Some(Resource::Shared(path)) if path == place);
    let by_value = |path: &AccessPath| {
        let Root::Value(value) = path.root else { return None };
        let mut looks = entry.flow().sources(value).iter().filter(|at| is_look(at));
        looks
            .any(|read| comes_from(entry, value, *read, DEEPEST))
            .then(|| path.fields.iter().cloned().collect())
    };
    by_value(handle).or_else(|| by_value(&resolved))
}

/// Whether a value is what was looked up, or what a helper gives back that gives nothing, or an error, elsewhere.
fn comes_from(entry: &Entry<'_>, value: Value, read: At, depth: usize) -> bool {
    let flow = entry.flow();
    flow.is_part_of(value, read)
        || depth > 0
            && flow.inputs(value).len() <= MOST_RETURNS
            && flow.inputs(value).iter().any(|input| comes_from(entry, *input, read, depth - 1))
}

/// Whether one part is inside of the other, so that what is done to the one is done to the other.
pub(super) fn are_of_one(one: &[Field], other: &[Field]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The locks that are held at a step, however they are held.
pub(super) fn locks_at(entry: &Entry<'_>, at: At) -> Vec<Lock> {
    let lock = |held: &At| match entry.op(*held) {
        Some(Op::Acquire { lock, .. }) => Some(entry.locks().resolve(lock)),
        _ => None,
    };
    entry.locks().held(at).iter().filter_map(lock).collect()
}

/// What a lock is called, whoever has it.
pub(super) fn name_of(lock: &Lock) -> Option<Name> {
    let last = lock.object.fields.iter().rev().find_map(|field| match field {
        Field::Name(name) => Some(name.clone()),
        Field::At(_) => None,
    });
    last.or_else(|| match &lock.object.root {
        Root::Global(name) => Some(name.clone()),
        _ => None,
    })
}

/// Whether two lists have a lock of one name.
pub(super) fn share_a_lock(one: &[Lock], other: &[Lock]) -> bool {
    one.iter().filter_map(name_of).any(|name| other.iter().any(|lock| name_of(lock).as_ref() == Some(&name)))
}

/// The locks that are taken on the way to a step, whether they are still held there or not.
pub(super) fn locks_before(entry: &Entry<'_>, at: At) -> Vec<Lock> {
    let taken = entry
        .steps_of(Kinds::ACQUIRE)
        .filter(|taken| *taken < at && entry.control().leads_to(*taken, at).is_some());
    let lock = |taken: At| match entry.op(taken) {
        Some(Op::Acquire { lock, .. }) => Some(entry.locks().resolve(lock)),
        _ => None,
    };
    taken.filter_map(lock).collect()
}

//! Data dependences of an act, across a rename and across memory: what it writes, followed back to what was read.

use interlock_model::ir::{AccessPath, Aspect, Op, Resource, Value, WriteMode};

use crate::{
    gates::Gates,
    view::{At, Entry, Kinds, Overlap},
};

/// What feeds an act: what a rename puts in place is what was written under the other name before, and what is saved from a field
/// is what was loaded into it.
pub(crate) fn data_dependences(entry: &Entry<'_>, act: At, gates: &mut Gates) -> Vec<At> {
    let writes = match entry.op(act) {
        Some(Op::Rename { from, .. }) => renamed(entry, from, act),
        _ => vec![act],
    };
    let mut data_dependent: Vec<At> =
        writes.iter().flat_map(|write| entry.flow().data_dependences(*write).into_owned()).collect();
    if is_stored(entry, act) {
        let mut loaded: Vec<At> =
            data_dependent.iter().flat_map(|read| loaded_into(entry, *read, gates)).collect();
        for write in writes {
            let Some(Op::Write { from, .. }) = entry.op(write) else { continue };
            loaded.extend(
                entry
                    .alias()
                    .locations_in(from)
                    .iter()
                    .flat_map(|location| loaded_at(entry, location, write, gates)),
            );
        }
        data_dependent.extend(loaded);
    }
    data_dependent.sort_unstable();
    data_dependent.dedup();
    data_dependent
}

/// The values that an act writes, itself or under the name that a rename takes away.
pub(crate) fn written_values(entry: &Entry<'_>, act: At) -> Vec<Value> {
    let writes = match entry.op(act) {
        Some(Op::Rename { from, .. }) => renamed(entry, from, act),
        _ => vec![act],
    };
    let from = writes.into_iter().filter_map(|write| match entry.op(write) {
        Some(Op::Write { from, .. }) => Some(from),
        _ => None,
    });
    from.flatten().copied().collect()
}

/// The writes of the file that a rename moves. Those beside it count, not what the same helper wrote before.
fn renamed(entry: &Entry<'_>, from: &Resource, act: At) -> Vec<At> {
    let from = entry.alias().resolve_resource(from);
    let written = |write: &At| {
        *write < act
            && entry.resource(*write) == Some(&from)
            && entry.control().leads_to(*write, act).is_some()
    };
    let writes: Vec<At> = entry.steps_of(Kinds::WRITE).filter(written).collect();
    let beside = |write: &&At| entry.position(**write, &[act]) == entry.span(**write);
    let near: Vec<At> = writes.iter().filter(beside).copied().collect();
    if near.is_empty() { writes } else { near }
}

/// What was loaded into the location in memory that a step reads.
fn loaded_into(entry: &Entry<'_>, read: At, gates: &mut Gates) -> Vec<At> {
    match entry.resource(read) {
        Some(Resource::Shared(location)) if entry.alias().is_shared(location) => {
            loaded_at(entry, location, read, gates)
        }
        _ => vec![],
    }
}

/// What was loaded into a location in memory before a step, by the same call and in every call: what is loaded once is kept, and memory
/// is what counts from then on.
fn loaded_at(entry: &Entry<'_>, location: &AccessPath, before: At, gates: &mut Gates) -> Vec<At> {
    let stores = entry.all(Kinds::WRITE, |op| {
        matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. })
    });
    let whole = |store: &At| *store < before && entry.control().leads_to(*store, before).is_some();
    let all: Vec<At> = stores.filter(|store| entry.alias().sets(*store, location)).collect();
    let stores: Vec<At> = all.iter().copied().filter(whole).collect();
    // What is loaded again on every way here takes the place of what was loaded before.
    let replaced = |store: &At| {
        stores.iter().any(|later| {
            later > store
                && entry
                    .control()
                    .control_dependences(before)
                    .starts_with(entry.control().control_dependences(*later))
                && entry.control().leads_to(*store, *later).is_some()
        })
    };
    let mut loads: Vec<At> = vec![];
    for store in stores.iter().filter(|store| !replaced(store)) {
        let mut fed = entry.flow().data_dependences(*store).into_owned();
        fed.retain(|load| !is_loaded_once(entry, *load, gates));
        fed.retain(|load| !is_loaded_by_itself(entry, &all, *store, *load, before, gates));
        loads.extend(fed);
    }
    loads.into_iter().filter(|load| !is_looked_at_again(entry, *load, location)).collect()
}

/// Whether the helper call that writes has read the file itself. Of two calls of `getTokens()`, each of which reads the file, the second writes
/// nothing that the first has read; the read and the write inside one call are a pair of their own.
fn is_loaded_by_itself(
    entry: &Entry<'_>,
    stores: &[At],
    store: At,
    load: At,
    before: At,
    gates: &mut Gates,
) -> bool {
    let Some(callee) = entry.callee_apart(before, store) else { return false };
    if entry.is_called_again_around(store, before) {
        return true;
    }
    // A callee that loads only while the cache is empty uses what the first callee has loaded.
    let mut only_missing = |again: At| {
        let mut judged = entry.flow().controlling_reads(again).filter(|(_, read)| callee.contains(read));
        judged.any(|(_, read)| gates.only_first(entry, read))
    };
    let mut own = stores.iter().filter(|own| callee.contains(own));
    own.any(|own| {
        let loads = entry.flow().data_dependences(*own).into_owned();
        loads.into_iter().any(|again| {
            callee.contains(&again)
                && entry.alias().overlap(again, load) == Some(Overlap::Sure)
                && !only_missing(again)
        })
    })
}

/// Whether what was loaded is only taken from memory where the time of its file, asked for since, says that it is still what stands there.
fn is_looked_at_again(entry: &Entry<'_>, load: At, location: &AccessPath) -> bool {
    let asks_for_time = |op: &Op| matches!(op, Op::Read { aspect: Aspect::Metadata, .. });
    let times: Vec<At> = entry
        .all(Kinds::READ, asks_for_time)
        .filter(|read| *read > load && entry.alias().overlap(*read, load).is_some())
        .collect();
    if times.is_empty() {
        return false;
    }
    let takes = entry.all(Kinds::READ, |op| matches!(op, Op::Read { of: Resource::Shared(_), .. }));
    let takes: Vec<At> = takes.filter(|take| load < *take && entry.alias().sets(*take, location)).collect();
    // What it is compared with is kept in memory as well, at another place.
    let is_kept = |read: At| {
        matches!(entry.resource(read), Some(Resource::Shared(_))) && !entry.alias().sets(read, location)
    };
    // Each is behind such a question, or a part of one: whether there is anything in memory.
    let mut asked: Vec<At> = vec![];
    for take in &takes {
        let judged: Vec<(At, At)> = entry.flow().controlling_reads(*take).collect();
        let asks = |check: At| {
            let mut reads = judged.iter().filter(|(other, _)| *other == check).map(|(_, read)| *read);
            reads.clone().any(|read| times.contains(&read)) && reads.any(is_kept)
        };
        let reads = judged.iter().filter(|(check, _)| asks(*check)).map(|(_, read)| *read);
        let before = asked.len();
        asked.extend(reads);
        if asked.len() > before {
            asked.push(*take);
        }
    }
    !takes.is_empty() && takes.iter().all(|take| asked.contains(take))
}

/// Whether only the first call of a process comes to a load.
pub(crate) fn is_loaded_once(entry: &Entry<'_>, load: At, gates: &mut Gates) -> bool {
    entry.flow().controlling_reads(load).any(|(_, read)| gates.only_first(entry, read))
}

/// Whether a step reads what is kept outside of the process.
pub(crate) fn is_stored(entry: &Entry<'_>, read: At) -> bool {
    matches!(entry.resource(read), Some(Resource::File(_) | Resource::Key(_) | Resource::Row { .. }))
}

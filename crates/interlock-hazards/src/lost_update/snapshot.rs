//! Lost update by an older copy: memory is copied under a lock, and the copy is written to a file when that lock is no longer held.
//!
//! Reported:
//! ```text
//! s.mu.Lock(); s.items[id] = item; s.mu.Unlock()
//! s.mu.RLock(); all := s.copy(); s.mu.RUnlock()     // reported here
//! os.WriteFile(FILE, marshal(all))                  // the older of two copies may be the last that is written
//! ```
//! Not reported:
//! ```text
//! s.mu.Lock(); defer s.mu.Unlock()                  // one lock from the copy to the write
//! s.items[id] = item
//! os.WriteFile(FILE, marshal(s.items))
//! ```
//!
//! Only where the same call has changed the memory before, where the file is the same for every call, and where a lock around the
//! copy says that others change the memory meanwhile. What is read from the file is in `rule.rs`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Aspect, Op, Origin, Resource, Root, Value},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    dependences::data_dependences,
    gates::Gates,
    view::{At, Entry, Kinds, View},
};

use super::{HAZARD, cached::replaced_files};

/// The files that are written from a copy of memory outside the lock of the copy.
pub(super) fn snapshots(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::ACQUIRE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut gates = Gates::default();
    let mut issues = vec![];
    // What is written under another name first is told of the rename.
    let mut acts: Vec<At> = replaced_files(entry).collect();
    acts.sort_by_key(|act| !matches!(entry.op(*act), Some(Op::Rename { .. })));
    for act in acts {
        let sources = data_dependences(entry, act, &mut gates);
        let from_file = |read: &At| matches!(entry.resource(*read), Some(Resource::File(_)));
        if sources.iter().any(|read| from_file(read) && entry.alias().overlap(*read, act).is_some()) {
            continue;
        }
        let found = sources.iter().find_map(|read| Some((*read, changed_before(entry, *read)?)));
        let Some((read, change)) = found else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(view, entry, (change, read, act))));
    }
    issues
}

/// Where the call has changed what a read copies from memory.
fn changed_before(entry: &Entry<'_>, read: At) -> Option<At> {
    let (Some(Op::Read { aspect: Aspect::Content | Aspect::Total, .. }), Some(Resource::Shared(seen))) =
        (entry.op(read), entry.resource(read))
    else {
        return None;
    };
    if !entry.alias().is_shared(seen) || !matches!(seen.root, Root::Global(_) | Root::This) {
        return None;
    }
    let touches = |change: &At| match entry.resource(*change) {
        Some(Resource::Shared(put)) => put.begins_with(seen) || seen.begins_with(put),
        _ => false,
    };
    entry
        .steps_of(Kinds::CHANGES)
        .filter(|change| *change < read && touches(change))
        .find(|change| entry.control().leads_to(*change, read).is_some())
}

/// Whether the caller has a say in which file it is.
fn is_chosen(entry: &Entry<'_>, act: At) -> bool {
    let Some(Resource::File(path)) = entry.resource(act) else { return true };
    let named = entry.flow().values_in(path);
    let from_caller = |value: &Value| {
        matches!(
            entry.flow().origin(*value),
            Some(Origin::Argument | Origin::Arguments | Origin::Caller | Origin::Session)
        )
    };
    named.is_empty()
        || entry.alias().is_another_each_time(path)
        || entry.flow().backward_slice(&named).iter().any(from_caller)
}

fn judge(view: &View<'_>, entry: &Entry<'_>, (change, read, act): (At, At, At)) -> Result<Issue, Reason> {
    needs(view.objects().file(entry, act).is_some() || !is_chosen(entry, act), Reason::UnsureSame)?;
    needs(entry.control().leads_to(read, act) == Some(true), Reason::NoSuspension)?;
    // Without a lock around the copy the race is about the memory, which other rules look at.
    let (at_read, at_act) = (entry.locks().held(read), entry.locks().held(act));
    needs(!at_read.is_empty(), Reason::OutOfScope)?;
    unless(at_read.iter().any(|lock| at_act.contains(lock)), Reason::HeldLock)?;
    // One lock around all of it, from before the change on, keeps others from changing and from writing.
    unless(entry.locks().held(change).iter().any(|lock| at_act.contains(lock)), Reason::HeldLock)?;
    unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
    let (thing, kept) = (entry.thing(act), entry.thing(read));
    let message = format!(
        "{thing} is written from a copy of {kept} that was taken under a lock which is no longer held, so of two calls at once the older copy may be \
         written last, and the change of the other is not in it"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    Ok(Issue::at(entry, read, &[act], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("copies {kept}"))
        .step(Lane::B, seen, format!("copies {kept}, with a change of its own"))
        .step(Lane::B, done, format!("writes {thing}"))
        .step(Lane::A, done, format!("writes {thing} from the older copy: B's change is gone")))
}

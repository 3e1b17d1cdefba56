//! A cached handle that outlives a reset: one call opens a handle by the current setting, another call changes the setting and drops the cached
//! handle while the first still waits, and the first then caches the handle that it opened by the old setting.
//!
//! Reported:
//! ```text
//! async scope() { return (this.kept ??= await open(this.branch)); }         // reported here: opened by the old branch
//! switchTo(branch) { this.kept = null; this.branch = branch; }              // meanwhile
//! ```
//! Not reported:
//! ```text
//! const branch = this.branch, opened = await open(branch);
//! if (branch === this.branch) this.kept = opened;                           // looked at again
//! ```
//!
//! Only where another call drops what is kept and changes the setting that it is made by. That two calls both open it is `duplicate-load`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Aspect, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, Location, Runs, View},
};

use super::HAZARD;

/// A step that sets something in memory.
struct Put<'v, 'e> {
    entry: &'v Entry<'e>,
    at: At,
    location: Location,
}

/// What is kept though it was made by a setting that has been changed since.
pub(super) fn reset(view: &View<'_>) -> Vec<Issue> {
    let racing = || view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    let mut stores: Vec<(&Entry<'_>, At, At)> = vec![];
    for entry in racing() {
        stores.extend(kept_if_missing(entry).into_iter().map(|(read, store)| (entry, read, store)));
    }
    if stores.is_empty() {
        return vec![];
    }
    let sets: Vec<Vec<Put<'_, '_>>> = racing().map(|entry| sets_of(view, entry)).collect();
    let judged = |(entry, read, store): (&Entry<'_>, At, At)| {
        entry.settle(&HAZARD.id, &[read, store], judge(view, entry, read, store, &sets))
    };
    stores.into_iter().filter_map(judged).collect()
}

/// What a call keeps where it has found nothing, behind a suspension: the look and the step that keeps it.
fn kept_if_missing(entry: &Entry<'_>) -> Vec<(At, At)> {
    let mut found = vec![];
    let keeps = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, from, .. } if !from.is_empty());
    for store in entry.all(Kinds::WRITE, keeps) {
        let looks = |read: &At| {
            matches!(
                entry.op(*read),
                Some(Op::Read { of: Resource::Shared(_), aspect: Aspect::Content | Aspect::Existence, .. })
            ) && *read < store
                && entry.alias().same_record(*read, store)
        };
        let look = entry.flow().controlling_reads(store).map(|(_, read)| read).filter(looks).max();
        found.extend(look.map(|read| (read, store)));
    }
    found
}

/// What a call sets in memory without having waited for it: it drops something, or changes a setting.
fn sets_of<'v, 'e>(view: &'v View<'e>, entry: &'v Entry<'e>) -> Vec<Put<'v, 'e>> {
    let objects = view.objects();
    let sets = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. });
    let located = |at: At| Some(Put { entry, at, location: objects.location(entry, at)? });
    entry.all(Kinds::WRITE, sets).filter_map(located).collect()
}

fn judge(
    view: &View<'_>,
    entry: &Entry<'_>,
    read: At,
    store: At,
    sets: &[Vec<Put<'_, '_>>],
) -> Result<Issue, Reason> {
    let window = entry.locks().race_window(read, store).ok_or(Reason::NotAfter)?;
    needs(window.suspends, Reason::NoSuspension)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let objects = view.objects();
    let kept = objects.location(entry, store).ok_or(Reason::OutOfScope)?;
    // Who drops it: sets it to nothing that anybody has computed.
    let drops = |one: &Put<'_, '_>| {
        let emptied = match one.entry.op(one.at) {
            Some(Op::Write { from, .. }) => from.is_empty(),
            _ => false,
        };
        emptied && one.location.names.are_of_one(&kept.names) && !is_beginning(one.entry, one.at)
    };
    let settings = entry.flow().data_dependences(store);
    let settings: Vec<(At, Location)> = settings
        .iter()
        .filter(|setting| is_setting(entry, **setting, read, store))
        .filter_map(|setting| Some((*setting, objects.location(entry, *setting)?)))
        .collect();
    let changes = |drop: &Put<'_, '_>, other: &Put<'_, '_>, made_by: &Location| {
        other.at != drop.at
            && made_by.names.depth_in(&other.location.names).is_some()
            && !other.location.names.are_of_one(&kept.names)
            && !is_beginning(other.entry, other.at)
    };
    // One call drops it and changes the setting, so each call's own steps are looked through alone: servers have hundreds of calls.
    let found = sets.iter().flat_map(|of_call| of_call.iter().map(move |drop| (drop, of_call)));
    // What nothing calls, such as the end of the server's life, is taken to come meanwhile only for what nothing calls either.
    let is_unreached = |one: &Entry<'_>| *one.runs == Runs::Unreached;
    let comes_meanwhile = |one: &Entry<'_>| !is_unreached(one) || is_unreached(entry);
    let found = found
        .filter(|(drop, _)| !std::ptr::eq(drop.entry, entry) && comes_meanwhile(drop.entry) && drops(drop));
    let found =
        found.flat_map(|(drop, of_call)| settings.iter().map(move |setting| (drop, of_call, setting)));
    let mut found = found.filter_map(|(drop, of_call, (setting, made_by))| {
        let changed = of_call.iter().find(|other| changes(drop, other, made_by))?;
        Some((drop, *setting, changed))
    });
    let (drop, setting, changed) = found.next().ok_or(Reason::OutOfScope)?;
    // A call that reads the setting again after the wait, and before it caches the handle, notices the change.
    let asks_again = entry.flow().controlling_reads(store).any(|(check, other)| {
        other > read
            && entry.alias().overlap(other, setting).is_some()
            && entry.locks().race_window(read, check).is_some_and(|window| window.suspends)
    });
    unless(asks_again, Reason::CheckedAgain)?;
    let (thing, by) = (entry.thing(store), entry.thing(setting));
    let message = format!(
        "{thing} is made by {by} and kept behind a suspension, so where another call has dropped it and changed {by} meanwhile, the one of before \
         comes back and stays"
    );
    let issue = Issue::at(entry, store, &[read], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(
            Lane::A,
            entry.position(read, &[store]),
            format!("finds no {thing}, and begins to make one by {by}"),
        )
        .step(Lane::B, drop.entry.span(drop.at), format!("drops {thing}"))
        .step(Lane::B, changed.entry.span(changed.at), format!("changes {by}"))
        .step(Lane::A, entry.position(store, &[read]), format!("keeps the {thing} of before"));
    Ok(issue)
}

/// Whether a step sets what an object begins with: nothing was kept there before.
fn is_beginning(entry: &Entry<'_>, at: At) -> bool {
    let within = entry.program.function(entry.function_of(at));
    within.is_some_and(|function| function.name.ends_with(".constructor"))
}

/// Whether what is made was made by what was read in memory, before the call was suspended for it.
fn is_setting(entry: &Entry<'_>, setting: At, read: At, store: At) -> bool {
    matches!(entry.op(setting), Some(Op::Read { of: Resource::Shared(_), .. }))
        && matches!(entry.resource(setting), Some(Resource::Shared(path)) if entry.alias().is_shared(path))
        && setting != read
        && entry.alias().overlap(setting, store).is_none()
        && entry.locks().race_window(setting, store).is_some_and(|window| window.suspends)
}

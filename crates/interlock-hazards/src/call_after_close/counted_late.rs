//! A count that comes too late, so that whoever waits for all may find nobody to wait for: a goroutine counts itself in after it has begun,
//! or a call does so when the answer to whether it may is out of date.
//!
//! Reported:
//! ```text
//! go func() {
//!     s.work.Add(1)                                 // reported here: Wait has perhaps returned
//!     defer s.work.Done()
//!     s.db.Exec(…)
//! }()
//! // Close: s.work.Wait(); s.db.Close()
//!
//! if s.isStopping() { return errStopping }          // reported here: takes the lock and gives it back
//! s.tasks.Add(1)
//! // Stop: under the lock s.stopping = true; then s.tasks.Wait()
//! ```
//! Not reported:
//! ```text
//! s.work.Add(1)                                     // before it begins
//! go func() { defer s.work.Done(); s.db.Exec(…) }()
//!
//! s.mu.Lock(); ok := !s.stopping; if ok { s.tasks.Add(1) }; s.mu.Unlock()
//! ```
//!
//! Where it is known what the one who waits tears down, `rule.rs` tells it by that.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Op, Resource},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, Runs, View},
};

use super::{HAZARD, rule::is_same};

/// Finds goroutines that count themselves in.
pub(super) fn counted_late(view: &View<'_>) -> Vec<Issue> {
    let waiters = waiters(view);
    if waiters.is_empty() {
        return vec![];
    }
    let counting = view.entries_with(Kinds::OTHER).filter(|entry| *entry.runs != Runs::StartUp);
    counting.flat_map(|entry| of_entry(&waiters, entry)).collect()
}

/// Who waits for a group.
struct Waiter<'v, 'e> {
    entry: &'v Entry<'e>,
    drain: At,
    group: AccessPath,
}

fn waiters<'v, 'e>(view: &'v View<'e>) -> Vec<Waiter<'v, 'e>> {
    let of_entry = |entry: &'v Entry<'e>| {
        let drains = entry.all(Kinds::OTHER, |op| matches!(op, Op::Drain { .. }));
        let waiter = move |drain: At| match entry.op(drain) {
            Some(Op::Drain { group }) => {
                Some(Waiter { entry, drain, group: entry.alias().resolve_path(group) })
            }
            _ => None,
        };
        drains.filter_map(waiter).collect::<Vec<_>>()
    };
    view.entries_with(Kinds::OTHER).flat_map(of_entry).collect()
}

fn of_entry(waiters: &[Waiter<'_, '_>], entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    for at in entry.all(Kinds::OTHER, |op| matches!(op, Op::CountIn { .. })) {
        let (Some(Op::CountIn { group }), Some(spawn)) = (entry.op(at), entry.control().detached(at)) else {
            continue;
        };
        let group = entry.alias().resolve_path(group);
        let issue = entry.settle(&HAZARD.id, &[at], judge(waiters, entry, at, spawn, &group));
        found.extend(issue.filter(|issue| !found.iter().any(|known| known.span == issue.span)));
    }
    found
}

/// Finds calls that ask whether it is too late, and count themselves in when the answer may be out of date.
pub(super) fn asked_early(view: &View<'_>) -> Vec<Issue> {
    let waiters = waiters(view);
    if waiters.is_empty() {
        return vec![];
    }
    let calls = view.entries_with(Kinds::CHECK).filter(|entry| entry.runs_beside_itself());
    calls.flat_map(|entry| early_of_entry(&waiters, entry)).collect()
}

fn early_of_entry(waiters: &[Waiter<'_, '_>], entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    for at in entry.all(Kinds::OTHER, |op| matches!(op, Op::CountIn { .. })) {
        let Some(Op::CountIn { group }) = entry.op(at) else { continue };
        let group = entry.alias().resolve_path(group);
        let asked = entry.control().control_dependences(at).iter().copied();
        let asked = asked.flat_map(|check| entry.flow().condition_sources(check).iter().copied());
        for test in asked.filter(|test| *test < at) {
            let Some(Resource::Flag(flag) | Resource::Shared(flag)) = entry.resource(test) else { continue };
            let Some((closer, set)) = sets_and_waits(waiters, flag, &group) else { continue };
            let (closer, drain) = (closer.entry, closer.drain);
            let judge = || {
                let window = entry.locks().race_window(test, at).ok_or(Reason::NotAfter)?;
                unless(window.is_locked(), Reason::HeldLock)?;
                needs(entry.alias().is_shared(flag), Reason::OutOfScope)
            };
            if entry.settle(&HAZARD.id, &[test, at], judge()).is_none() {
                continue;
            }
            let (thing, name) = (entry.thing(test), entry.path_text(&group));
            let message = format!(
                "{thing} is tested before the call is counted in, so whoever sets it and waits for `{name}` in between waits for nobody, and the call goes on under it"
            );
            let story = [at];
            let issue = Issue::at(entry, test, &story, Reach::InProcess, message)
                .no_surer_than(Confidence::Medium)
                .step(Lane::A, entry.position(test, &story), format!("tests {thing}: not closing"))
                .step(Lane::X, closer.position(set, &[drain]), format!("sets {thing}"))
                .step(Lane::X, closer.position(drain, &[set]), format!("waits for `{name}`: nobody is in it"))
                .step(Lane::A, entry.position(at, &[test]), format!("counts itself into `{name}`, too late"));
            if !found.iter().any(|known| known.span == issue.span) {
                found.push(issue);
            }
        }
    }
    found
}

/// Who sets a flag and then waits for a group, and where it sets it.
fn sets_and_waits<'w, 'v, 'e>(
    waiters: &'w [Waiter<'v, 'e>],
    flag: &AccessPath,
    group: &AccessPath,
) -> Option<(&'w Waiter<'v, 'e>, At)> {
    waiters.iter().filter(|waiter| is_same(&waiter.group, group)).find_map(|waiter| {
        let Waiter { entry, drain, .. } = waiter;
        let sets = |set: &At| match entry.resource(*set) {
            Some(Resource::Flag(path) | Resource::Shared(path)) => {
                is_same(path, flag) && entry.control().leads_to(*set, *drain).is_some()
            }
            _ => false,
        };
        let set = entry.steps_of(Kinds::WRITE).filter(|set| set < drain).find(sets)?;
        Some((waiter, set))
    })
}

fn judge(
    waiters: &[Waiter<'_, '_>],
    entry: &Entry<'_>,
    at: At,
    spawn: At,
    group: &AccessPath,
) -> Result<Issue, Reason> {
    let inside = |step: At| entry.control().detached(step) == Some(spawn);
    let is_it = |entry: &Entry<'_>, path: &AccessPath| is_same(&entry.alias().resolve_path(path), group);
    // Whoever counts others in, and not itself, may well do so where it stands.
    let itself = entry.all(Kinds::OTHER, |op| matches!(op, Op::CountOut { group } if is_it(entry, group)));
    needs(itself.into_iter().any(inside), Reason::OutOfScope)?;
    unless(!entry.locks().mutexes(at).is_empty(), Reason::HeldLock)?;
    let others = entry.all(Kinds::OTHER, |op| matches!(op, Op::CountIn { group } if is_it(entry, group)));
    unless(others.into_iter().any(|other| !inside(other)), Reason::CountedIn)?;
    let waiter = waits(waiters, entry, spawn, group).ok_or(Reason::NobodyUses)?;
    let name = entry.path_text(group);
    let message = format!(
        "the goroutine adds itself to `{name}` only after it has begun, so a wait that comes first finds nobody to wait for and goes on under it"
    );
    let (counts, waits) = (entry.position(at, &[spawn]), waiter.entry.position(waiter.drain, &[]));
    Ok(Issue::at(entry, at, &[spawn], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, entry.position(spawn, &[at]), "starts a goroutine, which has yet to run")
        .step(Lane::X, waits, format!("waits for `{name}`: nobody is in it, so it goes on"))
        .step(Lane::A, counts, format!("adds itself to `{name}`, and works beside what goes on")))
}

/// Who waits for the group: behind the start of the goroutine, or in another way to run.
fn waits<'w, 'v, 'e>(
    waiters: &'w [Waiter<'v, 'e>],
    entry: &Entry<'_>,
    spawn: At,
    group: &AccessPath,
) -> Option<&'w Waiter<'v, 'e>> {
    let behind = |drain: At| {
        entry.control().detached(drain) != Some(spawn) && entry.control().leads_to(spawn, drain).is_some()
    };
    let mut of_group = waiters.iter().filter(|waiter| is_same(&waiter.group, group));
    of_group.find(|waiter| match waiter.entry.function == entry.function {
        true => behind(waiter.drain),
        false => entry.alias().is_shared(group),
    })
}

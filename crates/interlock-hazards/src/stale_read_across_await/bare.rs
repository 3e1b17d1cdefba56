//! A map that calls change side by side with no lock, in a language whose maps cannot bear that: Go ends the program, with all that other
//! calls were doing.
//!
//! Reported:
//! ```text
//! func (s *Store) put(id string, task Task) {
//!     s.tasks[id] = task                              // reported here
//! }
//! ```
//! Not reported:
//! ```text
//! s.mu.Lock()
//! s.tasks[id] = task
//! s.mu.Unlock()
//! ```
//!
//! A map that is looked at first is `duplicate-load`, `shared-session-state` or the rule beside this one, and told there.

use std::cell::Cell;

use interlock_model::{
    Lane, Reach, Span,
    ir::{AccessPath, Hold, LockKind, Op, Resource},
};

use crate::{
    Issue, Reason,
    check_act::check_act_pairs,
    decision::{needs, unless},
    keys::key_of,
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// The maps that tools change with no lock, each told once: at the first step that does.
pub(super) fn bare(view: &View<'_>) -> Vec<Issue> {
    if view.program.bare_maps.is_empty() {
        return vec![];
    }
    // What is also judged before it is changed is one story.
    let pairs = check_act_pairs(view);
    let judged = pairs.iter().filter(|pair| pair.claim.is_some()).map(|pair| pair.entry.span(pair.act));
    let mut told: Vec<Span> = judged.collect();
    let mut issues = vec![];
    for entry in view.entries_with(Kinds::WRITE | Kinds::DELETE).filter(|entry| entry.is_tool()) {
        for at in entry.steps_of(Kinds::WRITE | Kinds::DELETE) {
            if !view.program.bare_maps.contains(&entry.span(at)) {
                continue;
            }
            let span = entry.span(at);
            if told.contains(&span) {
                continue;
            }
            if let Some(issue) = entry.settle(&HAZARD.id, &[at], judge(entry, at)) {
                told.push(span);
                issues.push(issue);
            }
        }
    }
    issues
}

fn judge(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Resource::Shared(path)) = entry.resource(at) else { return Err(Reason::OutOfScope) };
    needs(entry.alias().is_shared(path) && !entry.alias().is_made_here(path), Reason::OwnRecord)?;
    unless(!entry.locks().mutexes(at).is_empty() || is_locked_whichever_way(entry, at), Reason::HeldLock)?;
    let thing = entry.thing(at);
    let message =
        format!("{thing} is changed with no lock, and a map that two calls change at once ends the program");
    let here = entry.position(at, &[]);
    let verb = if matches!(entry.op(at), Some(Op::Delete { .. })) { "removes" } else { "writes" };
    let mut issue = Issue::at(entry, at, &[], Reach::InProcess, message)
        .step(Lane::A, here, format!("{verb} {thing}"))
        .step(Lane::B, here, format!("{verb} {thing} at the same time: the program ends"));
    issue.keys = entry.resource(at).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}

/// Whether one lock is held at a step on each way there, though it was taken at several places.
fn is_locked_whichever_way(entry: &Entry<'_>, at: At) -> bool {
    let lock_of = |step: At| match entry.op(step) {
        // A number of permits keeps nobody out.
        Some(Op::Acquire { lock, hold: Hold::Exclusive, .. } | Op::Release { lock })
            if lock.kind == LockKind::Mutex =>
        {
            Some(entry.locks().resolve(lock))
        }
        _ => None,
    };
    let steps = || 0..entry.steps.len();
    let takes = |step: At| matches!(entry.op(step), Some(Op::Acquire { .. }));
    let objects: Vec<AccessPath> =
        steps().filter(|step| takes(*step)).filter_map(lock_of).map(|lock| lock.object).collect();
    objects.iter().any(|object| {
        let is_it = |step: At| lock_of(step).is_some_and(|lock| lock.object == *object);
        let met = Cell::new(false);
        let past = |step: At| {
            met.set(met.get() || step == at);
            takes(step) && is_it(step)
        };
        let _ = entry.control().exits(vec![0], past);
        for end in steps().filter(|step| !takes(*step) && is_it(*step)) {
            let _ = entry.control().exits(entry.control().behind(end), past);
        }
        !met.get()
    })
}

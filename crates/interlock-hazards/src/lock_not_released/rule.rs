//! A lock that is held for ever: an exception or an early return leads past the release.
//!
//! Reported:
//! ```text
//! await mutex.acquire();                            // reported here
//! const rows = await load();                        // throws
//! mutex.release();
//! ```
//! Not reported:
//! ```text
//! const release = await mutex.acquire();
//! try { return await load(); } finally { release(); }
//! ```
//!
//! A lease that nobody renews ends by itself; a lock that the tree builds itself is `unsafe-lock-map`. Flags that are used as locks are in `flag.rs`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Exit, Lock, Op, Origin, Scope},
};

use super::{HAZARD, flag::left_set};
use crate::{
    Issue, Reason,
    decision::unless,
    view::{At, Entry, Escape, Kinds, Runs, View},
};

/// Finds `lock-not-released`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let mut issues: Vec<Issue> = view.entries_with(Kinds::ACQUIRE).flat_map(of_entry).collect();
    issues.extend(left_set(view));
    issues
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let acquisitions = entry.steps_of(Kinds::ACQUIRE);
    acquisitions.filter_map(|at| entry.settle(&HAZARD.id, &[at], judge(entry, at))).collect()
}

fn judge(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Op::Acquire { lock, outcome, .. }) = entry.op(at) else { return Err(Reason::OutOfScope) };
    let lock = entry.locks().resolve(lock);
    // A lease that nobody renews ends by itself, a lock of this call alone stops nobody, and a hand-made one is judged where it is made.
    unless(lock.lease.is_some_and(|lease| !lease.renewed), Reason::EndsByItself)?;
    unless(entry.alias().is_made_here(&lock.object), Reason::OwnLock)?;
    unless(entry.locks().is_hand_made(&lock.object), Reason::JudgedWhereMade)?;
    let releases: Vec<At> = entry
        .all(
            Kinds::RELEASE,
            |op| matches!(op, Op::Release { lock: other } if entry.locks().are_one(&entry.locks().resolve(other), &lock)),
        )
        .filter(|release| entry.control().leads_to(at, *release).is_some() || entry.control().detached(*release).is_some())
        .collect();
    // Without any release in sight, somebody else is in charge of it: the function that it was handed to.
    let first = *releases.first().ok_or(Reason::ReleasedElsewhere)?;
    let starts = match outcome {
        Some(got) => {
            let asks = |op: &Op| matches!(op, Op::Check { on, .. } if on.contains(got));
            let check =
                entry.all(Kinds::CHECK, asks).find(|check| entry.control().leads_to(at, *check).is_some());
            entry.control().branch(check.ok_or(Reason::OutOfScope)?, true)
        }
        None => entry.control().behind(at),
    };
    let past = |step: At| {
        releases.contains(&step) || leaves_it_to(entry, at, step, &releases) || was_not_taken(entry, at, step)
    };
    let escape = *entry.control().exits(starts, past).first().ok_or(Reason::AlwaysReleased)?;
    let by = escape.at();
    let mut story = releases.clone();
    story.push(by);
    let name = lock_name(entry, &lock);
    let (why, confidence) = match escape {
        Escape::Failure(_) => {
            let sure =
                matches!(entry.op(by), Some(Op::Exit(_) | Op::Call { .. })) || touches_outside(entry, by);
            (format!("a failure {} skips the release", failing(entry, by)), sure)
        }
        Escape::Return(_) => ("an early return skips the release".to_owned(), true),
    };
    let reach = if lock.scope == Scope::CrossProcess { Reach::Both } else { Reach::InProcess };
    let message = format!("{why}, and every later call that needs {name} waits for ever");
    let issue = Issue::at(entry, at, &story, reach, message)
        .step(Lane::A, entry.position(at, &story), format!("takes {name}"))
        .step(
            Lane::X,
            entry.position(by, &story),
            match escape {
                Escape::Failure(_) => "fails, and leaves past the release",
                Escape::Return(_) => "returns before the release",
            },
        )
        .step(Lane::A, entry.position(first, &story), "the release is never reached")
        .step(Lane::B, entry.position(at, &story), format!("waits for {name} for ever"));
    Ok(if confidence { issue } else { issue.no_surer_than(Confidence::Medium) })
}

/// Whether a step sees to the release in its own way: it starts something that releases, or tests whether there is anything to
/// release.
fn leaves_it_to(entry: &Entry<'_>, taken: At, step: At, releases: &[At]) -> bool {
    let inside = || releases.iter().any(|release| entry.control().encloses(step, *release));
    match entry.op(step) {
        Some(Op::Spawn { .. }) => inside(),
        Some(Op::Check { .. }) => {
            let on_the_way_out = entry.control().is_finally(step) || entry.control().is_recovery(step);
            // Or it leaves where there is nothing to release, and what is behind it releases.
            let behind = || {
                releases.iter().any(|release| entry.control().control_dependences(*release).contains(&step))
            };
            let own =
                || entry.flow().condition_sources(step).is_empty() && !asks_the_caller(entry, taken, step);
            inside() && own() || on_the_way_out && (inside() || behind())
        }
        _ => false,
    }
}

/// Whether a check goes by what the caller of a tool has given, which says nothing of whether the lock is held. Where it was taken by
/// that as well, it does.
fn asks_the_caller(entry: &Entry<'_>, taken: At, check: At) -> bool {
    let given = |check: At| match entry.op(check) {
        Some(Op::Check { on, .. }) => {
            !on.is_empty()
                && on.iter().all(|value| entry.flow().origin(*value).is_some_and(Origin::is_argument))
        }
        _ => false,
    };
    matches!(entry.runs, Runs::Call(_))
        && given(check)
        && !entry.control().control_dependences(taken).iter().any(|judge| given(*judge))
}

/// Whether a step leaves because a flag of the function says that the lock was not got. The way there leads past the taking, but
/// never through it.
fn was_not_taken(entry: &Entry<'_>, taken: At, step: At) -> bool {
    if !matches!(entry.op(step), Some(Op::Exit(Exit::Throw | Exit::Return(_)))) {
        return false;
    }
    let check = entry.control().around(step, |op| matches!(op, Op::Check { .. }));
    check.is_some_and(|check| match entry.op(check) {
        Some(Op::Check { on, .. }) => {
            !on.is_empty() && check > taken && on.iter().all(|value| entry.flow().is_own_flag(*value))
        }
        _ => false,
    })
}

pub(super) fn touches_outside(entry: &Entry<'_>, at: At) -> bool {
    entry.resource(at).is_some() || matches!(entry.op(at), Some(Op::External { .. } | Op::Open { .. }))
}

pub(super) fn failing(entry: &Entry<'_>, at: At) -> String {
    match entry.op(at) {
        Some(Op::Exit(_)) => "that is thrown on purpose".into(),
        Some(Op::External { service, .. }) => format!("of the request to {}", entry.quoted(service)),
        Some(_) if entry.resource(at).is_some() => format!("at {}", entry.thing(at)),
        _ => "in between".into(),
    }
}

/// A lock in words.
fn lock_name(entry: &Entry<'_>, lock: &Lock) -> String {
    match &lock.key {
        Some(key) => format!("the lock of {}", entry.quoted(key)),
        None => format!("`{}`", entry.path_text(&lock.object)),
    }
}

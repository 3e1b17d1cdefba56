//! A lease without a fencing token: the work under it may outlive it, and then does harm beside the next holder.
//!
//! Reported:
//! ```text
//! if (await redis.set("lock", me, "PX", 5000, "NX")) {   // reported here
//!   const data = await fetchAll();                  // longer than five seconds
//!   await db.run("UPDATE index SET data = ?", data);
//!   await redis.del("lock");
//! }
//! ```
//! Not reported:
//! ```text
//! const timer = setInterval(() => redis.pexpire("lock", 5000), 1000);   // renewed while the work runs
//! await db.run("UPDATE index SET data = ? WHERE fence < ?", data, fence);  // or refused by a fence
//! ```
//!
//! How long work takes is not known: whatever waits for somebody outside may take longer than the limit.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Callee, Change, Op, Resource, Start, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Runs, View},
};

use super::HAZARD;

/// Finds `lease-without-fence`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let beside =
        view.entries_with(Kinds::ACQUIRE | Kinds::WRITE).filter(|entry| *entry.runs != Runs::StartUp);
    let settled = |entry: &Entry<'_>, taken: &Taken| {
        let judged = judge(entry, taken).ok_or(Reason::NoHarmLate);
        entry.settle(&HAZARD.id, &[taken.at], judged)
    };
    beside
        .flat_map(|entry| {
            let leases = leases(entry).into_iter();
            leases.filter_map(|taken| settled(entry, &taken)).collect::<Vec<Issue>>()
        })
        .collect()
}

/// A lock with a time limit, from its taking to its end.
struct Taken {
    at: At,
    name: String,
    /// The steps at which it is given back; none where it is known which steps it is held at.
    ends: Vec<At>,
}

fn leases(entry: &Entry<'_>) -> Vec<Taken> {
    let mut found = vec![];
    for at in entry.steps_of(Kinds::ACQUIRE | Kinds::WRITE) {
        match entry.op(at) {
            Some(Op::Acquire { lock, .. }) => {
                let Some(lease) = lock.lease else { continue };
                let ends = unless(lease.renewed, Reason::Renewed).and(unless(lease.fenced, Reason::Fenced));
                if entry.note(&HAZARD.id, &[at], ends).is_err() {
                    continue;
                }
                let lock = entry.locks().resolve(lock);
                let name = match &lock.key {
                    Some(key) => format!("the lock of {}", entry.quoted(key)),
                    None => format!("`{}`", entry.path_text(&lock.object)),
                };
                found.push(Taken { at, name, ends: vec![] });
            }
            // `SET … NX PX` is the lock where the outcome decides and the key is deleted afterwards.
            Some(Op::Write {
                mode: WriteMode::Exclusive,
                outcome: Some(outcome),
                to: Resource::Key(_),
                ..
            }) => {
                let ends: Vec<At> = entry
                    .all(Kinds::DELETE | Kinds::WRITE, |op| {
                        matches!(op, Op::Delete { .. } | Op::Write { mode: WriteMode::Atomic, .. })
                    })
                    .filter(|end| {
                        entry.alias().same_record(at, *end) && entry.control().leads_to(at, *end).is_some()
                    })
                    .collect();
                let decides = entry.all(Kinds::CHECK, |op| matches!(op, Op::Check { on, .. } if on.iter().any(|on| entry.flow().depends_on(*on, *outcome))));
                let is_lock = needs(!ends.is_empty() && decides.count() > 0, Reason::OutOfScope)
                    .and_then(|()| unless(is_renewed(entry, at), Reason::Renewed));
                if entry.note(&HAZARD.id, &[at], is_lock).is_err() {
                    continue;
                }
                found.push(Taken { at, name: entry.thing(at), ends });
            }
            // Columns of a row that say who works at it, and until when, are the lock where they are emptied afterwards.
            Some(Op::Write { mode, to: Resource::Row { .. }, from, .. })
                if *mode != WriteMode::Exclusive && !from.is_empty() && has_limit(entry, at) =>
            {
                let ends = ends_of_row(entry, at);
                let is_lock = needs(!ends.is_empty(), Reason::OutOfScope)
                    .and_then(|()| unless(is_row_renewed(entry, at), Reason::Renewed));
                if entry.note(&HAZARD.id, &[at], is_lock).is_err() {
                    continue;
                }
                found.push(Taken { at, name: format!("the lock in {}", entry.thing(at)), ends });
            }
            _ => {}
        }
    }
    found
}

/// Whether a step sets columns of a row that say who works at it, and until when.
fn has_limit(entry: &Entry<'_>, at: At) -> bool {
    let columns = entry.alias().columns(at).unwrap_or_default();
    let named = |topic| columns.iter().any(|column| entry.lexicon().has_word_of(topic, column));
    named(Topic::LeaseOwner) && named(Topic::LeaseEnd)
}

/// Where the same columns of the row are emptied.
fn ends_of_row(entry: &Entry<'_>, at: At) -> Vec<At> {
    let empties = |end: &At| match entry.op(*end) {
        Some(Op::Write { from, .. }) => from.is_empty() && has_limit(entry, *end),
        _ => false,
    };
    entry
        .steps_of(Kinds::WRITE)
        .filter(|end| empties(end) && entry.alias().same_record(at, *end))
        .filter(|end| entry.control().leads_to(at, *end).is_some())
        .collect()
}

/// Whether somebody beside the work, a timer or a task, sets the time limit anew.
fn is_row_renewed(entry: &Entry<'_>, at: At) -> bool {
    let sets_limit = |step: At| {
        let columns = entry.alias().columns(step).unwrap_or_default();
        columns.iter().any(|column| entry.lexicon().has_word_of(Topic::LeaseEnd, column))
    };
    entry.steps_of(Kinds::WRITE).any(|step| {
        entry.control().detached(step).is_some() && sets_limit(step) && entry.alias().same_record(at, step)
    })
}

/// Whether a step changes no more of a row than who works at it.
fn is_about_lease(entry: &Entry<'_>, lock: At, at: At) -> bool {
    match (entry.op(lock), entry.alias().columns(lock), entry.alias().columns(at)) {
        (Some(Op::Write { to: Resource::Row { .. }, .. }), Some(lease), Some(columns)) => {
            columns.iter().any(|column| lease.contains(column))
        }
        _ => true,
    }
}

/// Whether a timer prolongs the key while the work runs.
fn is_renewed(entry: &Entry<'_>, at: At) -> bool {
    let prolongs = |op: &Op| {
        matches!(op, Op::Write { mode: WriteMode::Expiry | WriteMode::Atomic | WriteMode::Blind, .. })
    };
    entry.all(Kinds::WRITE, prolongs).any(|step| {
        let by_timer = entry
            .control()
            .detached(step)
            .is_some_and(|spawn| matches!(entry.op(spawn), Some(Op::Spawn { start: Start::Timer, .. })));
        by_timer && entry.alias().same_record(at, step)
    })
}

fn judge(entry: &Entry<'_>, taken: &Taken) -> Option<Issue> {
    let at = taken.at;
    let under = |step: &At| {
        if taken.ends.is_empty() {
            return entry.locks().held(*step).contains(&at);
        }
        *step > at
            && entry.control().leads_to(at, *step).is_some()
            && taken.ends.iter().any(|end| *step != *end && entry.control().leads_to(*step, *end).is_some())
    };
    let steps: Vec<At> = (at + 1..entry.steps.len()).filter(under).collect();
    let (slow, harm) = steps.iter().filter(|step| is_slow(entry, **step)).find_map(|slow| {
        let harm = steps.iter().find(|harm| {
            is_harm(entry, at, **harm) && (*harm == slow || entry.control().leads_to(*slow, **harm).is_some())
        })?;
        Some((*slow, *harm))
    })?;
    let story: Vec<At> = [slow, harm].into_iter().chain(taken.ends.first().copied()).collect();
    let what = change_in_words(entry, harm);
    let message = format!(
        "{} ends by its time limit while the work under it may go on, and then {what} for a caller that no longer holds it",
        taken.name
    );
    let mut issue = Issue::at(entry, at, &story, Reach::Both, message)
        .step(Lane::A, entry.position(at, &story), format!("takes {}", taken.name))
        .step(Lane::A, entry.position(slow, &story), "works longer than the limit")
        .step(Lane::X, entry.position(at, &story), "the limit passes: the lock is free")
        .step(Lane::B, entry.position(at, &story), format!("takes {}", taken.name));
    if harm != slow {
        issue = issue.step(Lane::B, entry.position(harm, &story), what.clone());
    }
    issue = issue.step(Lane::A, entry.position(harm, &story), format!("{what} all the same"));
    if matches!(entry.op(slow), Some(Op::Call { .. })) {
        issue = issue.no_surer_than(Confidence::Medium);
    }
    Some(issue)
}

/// Whether nothing here keeps a step's duration below a limit: a request, a process, something unknown that is waited for.
fn is_slow(entry: &Entry<'_>, at: At) -> bool {
    match entry.op(at) {
        Some(Op::External { .. } | Op::Sleep { .. }) => true,
        Some(Op::Call { callee: Callee::Named(_) | Callee::Value(_), awaited: true, .. }) => {
            entry.control().is_awaited(at)
        }
        _ => false,
    }
}

/// Whether a step does harm when somebody else holds the lock by then.
fn is_harm(entry: &Entry<'_>, lock: At, at: At) -> bool {
    match entry.op(at) {
        Some(Op::Write { mode, .. }) => {
            let durable = matches!(
                entry.resource(at),
                Some(Resource::Row { .. } | Resource::File(_) | Resource::Key(_))
            );
            let guarded = matches!(
                mode,
                WriteMode::Conditional(_) | WriteMode::Exclusive | WriteMode::Expiry | WriteMode::Ensure
            );
            durable && !guarded && !(entry.alias().same_record(lock, at) && is_about_lease(entry, lock, at))
        }
        Some(Op::Delete { when: None, .. }) => {
            matches!(entry.resource(at), Some(Resource::Row { .. } | Resource::File(_)))
                && !entry.alias().same_record(lock, at)
        }
        Some(Op::External { change: Change::Effect, idempotency, .. }) => {
            idempotency.as_ref().is_none_or(|key| entry.alias().is_another_each_time(key))
        }
        _ => false,
    }
}

fn change_in_words(entry: &Entry<'_>, at: At) -> String {
    match entry.op(at) {
        Some(Op::External { service, .. }) => format!("tells {}", entry.quoted(service)),
        Some(Op::Delete { .. }) => format!("deletes {}", entry.thing(at)),
        _ => format!("writes {}", entry.thing(at)),
    }
}

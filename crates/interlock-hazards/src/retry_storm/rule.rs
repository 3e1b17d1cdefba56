//! A retry without bound, back-off or jitter: all who lost together come back together.
//!
//! Reported:
//! ```text
//! for (;;) {
//!   try { return await save(); } catch { await sleep(100); }   // reported here
//! }
//! ```
//! Not reported:
//! ```text
//! for (let n = 0; n < 5; n++) {
//!   try { return await save(); } catch { await sleep(2 ** n * 100 * (1 + Math.random())); }
//! }
//! ```
//!
//! What a retry is, is found in `view` (`Entry::retry`): polling for a state and going through a list are none.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Backoff, Callee, Op},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Retry, Runs, View},
};

use super::HAZARD;

/// Finds `retry-storm`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    // A start that is tried again has no others beside it.
    let beside = view.entries_with(Kinds::LOOP).filter(|entry| *entry.runs != Runs::StartUp);
    beside.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let loops = entry.steps_of(Kinds::LOOP);
    loops
        .filter_map(|head| entry.control().retry(head))
        .filter_map(|retry| entry.settle(&HAZARD.id, &[retry.head, retry.attempt], judge(entry, retry)))
        .collect()
}

fn judge(entry: &Entry<'_>, retry: Retry) -> Result<Issue, Reason> {
    // A loop that never suspends finishes all its attempts before another call of the process runs, so calls cannot retry in step.
    // Processes that share a file or a row can.
    let shared = is_shared(entry, retry.attempt);
    let waits = |at: At| entry.control().lets_others_in(at) || entry.control().is_awaited(at);
    needs(shared || entry.control().inside(retry.head).any(waits), Reason::NoSuspension)?;
    let sleeps: Vec<(At, Backoff, bool)> = entry
        .control()
        .inside(retry.head)
        .filter_map(|at| match entry.op(at) {
            Some(Op::Sleep { backoff, jitter }) => Some((at, *backoff, *jitter)),
            _ => None,
        })
        .collect();
    unless(sleeps.is_empty() && pauses_by_name(entry, retry.head), Reason::UnknownPause)?;
    let Some((pause, _, _)) = sleeps.first() else {
        let what =
            if retry.bounded { "at once and without a pause" } else { "without a bound and without a pause" };
        return Ok(issue(entry, retry, retry.head, what, Confidence::Medium));
    };
    if !retry.bounded {
        let what = "without a bound, so a call that keeps losing never answers";
        return Ok(issue(entry, retry, retry.head, what, Confidence::Medium));
    }
    let spreads = sleeps.iter().any(|(_, backoff, jitter)| *backoff == Backoff::Growing && *jitter);
    unless(spreads, Reason::SpreadOut)?;
    let (grows, spread) = sleeps.iter().fold((false, false), |(grows, spread), (_, backoff, jitter)| {
        (grows || *backoff == Backoff::Growing, spread || *jitter)
    });
    let (what, confidence) = match (grows, spread) {
        (true, false) => ("after a pause that is the same for all who lost together", Confidence::Low),
        (false, true) => ("after a pause that does not grow", Confidence::Low),
        _ => ("after the same fixed pause as everybody else", Confidence::Medium),
    };
    Ok(issue(entry, retry, *pause, what, confidence))
}

/// Whether what is tried is lost or won against other processes too.
fn is_shared(entry: &Entry<'_>, attempt: At) -> bool {
    entry.resource(attempt).is_some() || matches!(entry.op(attempt), Some(Op::End { .. }))
}

/// Whether something in a loop is called what it does: a pause that blocks the thread, or one that is not understood.
fn pauses_by_name(entry: &Entry<'_>, head: At) -> bool {
    let pauses = |name: &str| entry.lexicon().has_inside(Topic::Pauses, name);
    entry.control().inside(head).any(|at| match entry.op(at) {
        Some(Op::Inlined { function, .. } | Op::Call { callee: Callee::Function(function), .. }) => {
            pauses(&entry.function_name(*function))
        }
        Some(Op::Call { callee: Callee::Named(name), .. }) => pauses(name),
        Some(Op::Call { callee: Callee::Value(value), .. }) => pauses(entry.name_of(*value)),
        _ => false,
    })
}

fn issue(entry: &Entry<'_>, retry: Retry, at: At, what: &str, confidence: Confidence) -> Issue {
    let story = [retry.head, retry.attempt];
    let thing = match entry.op(retry.attempt) {
        Some(Op::External { service, .. }) => format!("the request to {}", entry.quoted(service)),
        _ if entry.resource(retry.attempt).is_some() => {
            format!("the change of {}", entry.thing(retry.attempt))
        }
        Some(Op::End { .. }) => "the transaction".into(),
        Some(Op::Call { callee: Callee::Named(name), .. }) => format!("`{name}`"),
        _ => "what failed".into(),
    };
    let reach = if is_shared(entry, retry.attempt) { Reach::Both } else { Reach::InProcess };
    let message = format!(
        "a call that has failed tries {thing} again {what}, so all that have failed come back together"
    );
    Issue::at(entry, at, &story, reach, message)
        .no_surer_than(confidence)
        .step(Lane::A, entry.position(retry.attempt, &story), format!("tries {thing}, and loses"))
        .step(Lane::B, entry.position(retry.attempt, &story), format!("tries {thing}, and loses"))
        .step(Lane::A, entry.position(at, &story), format!("comes back {what}"))
        .step(Lane::B, entry.position(at, &story), "comes back at the same moment")
}

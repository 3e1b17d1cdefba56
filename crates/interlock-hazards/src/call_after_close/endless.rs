//! A loop in the background that nothing ends, over a handle that close tears down: it goes on with what is gone.
//!
//! Reported:
//! ```text
//! func (s *Srv) poll() {                            // go s.poll()
//!     for {
//!         time.Sleep(time.Minute)
//!         s.db.Exec(…)                              // reported here
//!     }
//! }
//! func (s *Srv) Close() { s.db.Close() }
//! ```
//! Not reported:
//! ```text
//! for {
//!     select {
//!     case <-s.done:                                // Close closes it
//!         return
//!     case <-time.After(time.Minute):
//!     }
//!     s.db.Exec(…)
//! }
//! ```
//!
//! A loop that has a way out, or that asks for something all share before it goes on, is not looked at: whether that is enough is the
//! question of the other rules.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{AccessPath, Bound, Callee, Exit, Field, Name, Op, Resource, Start},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, View},
};

use super::{
    HAZARD,
    rule::{ends_the_process, is_close, is_same, uses},
};

/// Finds loops that outlive what they use.
pub(super) fn endless(view: &View<'_>) -> Vec<Issue> {
    let loops: Vec<(&Entry<'_>, At)> = view
        .entries_with(Kinds::LOOP)
        .flat_map(|entry| entry.steps_of(Kinds::LOOP).map(move |head| (entry, head)))
        .filter(|(entry, head)| is_endless(entry, *head))
        .collect();
    let mut told: Vec<Span> = vec![];
    let mut issues = vec![];
    if loops.is_empty() {
        return issues;
    }
    for closer in view.entries_with(Kinds::CLOSE) {
        for close in closer.steps_of(Kinds::CLOSE) {
            let Some(handle) = torn_down(closer, close) else { continue };
            for (entry, head) in loops.iter().copied() {
                let Some(used) = entry.control().inside(head).find(|at| uses(entry, *at, &handle)) else {
                    continue;
                };
                if told.contains(&entry.span(used)) {
                    continue;
                }
                let judged = judge(view, (entry, head, used), (closer, close, &handle));
                if let Some(issue) = entry.settle(&HAZARD.id, &[used], judged) {
                    told.push(entry.span(used));
                    issues.push(issue);
                }
            }
        }
    }
    issues
}

/// What a close tears down that is there for all, under a name of its own.
fn torn_down(closer: &Entry<'_>, close: At) -> Option<AccessPath> {
    let Some(Op::Close { handle }) = closer.op(close) else { return None };
    let handle = closer.alias().resolve_path(handle);
    let named =
        !handle.fields.is_empty() && handle.fields.iter().all(|field| matches!(field, Field::Name(_)));
    (named
        && closer.alias().is_shared(&handle)
        && is_close(closer, close)
        && !ends_the_process(closer, close))
    .then_some(handle)
}

/// Whether a loop runs in the background, and no step of it leaves it.
fn is_endless(entry: &Entry<'_>, head: At) -> bool {
    let control = entry.control();
    let is_background = control
        .detached(head)
        .is_some_and(|spawn| matches!(entry.op(spawn), Some(Op::Spawn { start: Start::Now, .. })));
    // Where failures unwind, whoever has started it can cancel it.
    let unwinds = entry.program.function(entry.function_of(head)).is_none_or(|function| function.unwinds);
    let leaves = |at: At| match entry.op(at) {
        Some(Op::Exit(Exit::Return(_) | Exit::Throw)) => entry.frame_of(at) == entry.frame_of(head),
        Some(Op::Exit(Exit::Break)) => control.loops(at).last() == Some(&head),
        _ => false,
    };
    matches!(entry.op(head), Some(Op::Loop { bound: Bound::Unlimited, .. }))
        && is_background
        && !unwinds
        && !control.inside(head).any(leaves)
}

/// Whether a loop waits in each turn for a ticker that whoever closes stops. It then waits for ever, and uses nothing any more.
fn is_stopped(entry: &Entry<'_>, head: At, closer: &Entry<'_>) -> bool {
    let on = |entry: &Entry<'_>, at: At, does: &str| match entry.op(at) {
        Some(Op::Call { callee: Callee::Named(name), receiver: Some(path), .. }) if &**name == does => {
            Some(entry.alias().resolve_path(path))
        }
        _ => None,
    };
    let mut waited = entry.control().inside(head).filter_map(|at| on(entry, at, "wait"));
    waited.any(|place| {
        !place.fields.is_empty()
            && closer
                .steps_of(Kinds::CALL)
                .filter_map(|at| on(closer, at, "stop"))
                .any(|called| is_same(&called, &place))
    })
}

fn judge(
    view: &View<'_>,
    (entry, head, used): (&Entry<'_>, At, At),
    (closer, close, handle): (&Entry<'_>, At, &AccessPath),
) -> Result<Issue, Reason> {
    let class = |entry: &Entry<'_>, at: At| -> Option<Name> {
        entry.program.function(entry.function_of(at))?.owner.clone()
    };
    let ours = class(closer, close);
    needs(ours.is_some() && class(entry, used) == ours, Reason::OneOfMany)?;
    needs(view.are_of_one_program(entry, closer), Reason::OutOfScope)?;
    let asks = |check: &At| {
        let shared =
            |read: &At| matches!(entry.resource(*read), Some(Resource::Shared(_) | Resource::Flag(_)));
        entry.control().encloses(head, *check) && entry.flow().condition_sources(*check).iter().any(shared)
    };
    unless(entry.control().control_dependences(used).iter().any(asks), Reason::AsksFirst)?;
    unless(is_stopped(entry, head, closer), Reason::AsksFirst)?;
    let name = closer.path_text(handle);
    let message = format!(
        "nothing ends the loop that uses `{name}` in the background, so it goes on with what close has torn down"
    );
    Ok(Issue::at(entry, used, &[], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, entry.position(head, &[used]), "loops in the background, and nothing ends it")
        .step(Lane::X, closer.position(close, &[]), format!("close tears `{name}` down, and tells nobody"))
        .step(Lane::A, entry.position(used, &[head]), format!("uses `{name}`, which is gone")))
}

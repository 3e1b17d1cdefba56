//! Double close of a channel: two calls close one channel, and the second close ends the program.
//!
//! Reported:
//! ```text
//! select {
//! case <-s.done:
//! default:
//!     close(s.done)                                 // reported here: both calls came here before either closed
//! }
//! ```
//! Not reported:
//! ```text
//! s.once.Do(func() { close(s.done) })
//! if s.closed.CompareAndSwap(false, true) { close(s.done) }
//! ```
//!
//! A close that asks nothing first is left alone outside of tools: whoever stops a server does it once.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds},
};

use super::{HAZARD, rule::ends_the_process};

/// Finds channels that one way to run may close twice.
pub(super) fn closed_twice(entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = by_two_goroutines(entry);
    if !entry.runs_beside_itself() {
        return found;
    }
    for close in entry.steps_of(Kinds::CLOSE) {
        let Some(handle) = channel(entry, close) else { continue };
        let asked = asks(entry, close, &handle);
        let judge = || {
            needs(entry.alias().is_shared(&handle), Reason::OutOfScope)?;
            needs(entry.is_tool() || asked.is_some(), Reason::OutOfScope)?;
            unless(ends_the_process(entry, close), Reason::ProcessEnds)?;
            unless(is_under_lock(entry, asked, close, &handle), Reason::HeldLock)?;
            unless(is_claimed(entry, close), Reason::ClaimedFirst)?;
            unless(is_taken_out(entry, close, &handle), Reason::TakenOutFirst)
        };
        if entry.settle(&HAZARD.id, &[close], judge()).is_none() {
            continue;
        }
        let issue = issue(entry, asked, close, &handle);
        if !found.iter().any(|known| known.span == issue.span) {
            found.push(issue);
        }
    }
    found
}

/// Finds channels that two goroutines of one object may both close, each where it does not seem closed yet: its two loops, each of which
/// ends it.
fn by_two_goroutines(entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    let closes: Vec<(At, At, AccessPath)> = entry
        .steps_of(Kinds::CLOSE)
        .filter_map(|close| Some((close, entry.control().detached(close)?, channel(entry, close)?)))
        .collect();
    for (close, spawn, handle) in &closes {
        let Some(asked) = asks(entry, *close, handle) else { continue };
        let other = closes.iter().find(|(_, other, theirs)| other != spawn && theirs == handle);
        let judge = || {
            needs(other.is_some(), Reason::OutOfScope)?;
            unless(is_under_lock(entry, Some(asked), *close, handle), Reason::HeldLock)?;
            unless(is_claimed(entry, *close), Reason::ClaimedFirst)
        };
        if entry.settle(&HAZARD.id, &[*close], judge()).is_none() {
            continue;
        }
        let issue = issue(entry, Some(asked), *close, handle);
        if !found.iter().any(|known| known.span == issue.span) {
            found.push(issue);
        }
    }
    found
}

/// The channel that a step closes. Its flag is set by the same call of `close`; a connection has none.
fn channel(entry: &Entry<'_>, close: At) -> Option<AccessPath> {
    let Some(Op::Close { handle }) = entry.op(close) else { return None };
    let handle = entry.alias().resolve_path(handle);
    let set = close.checked_sub(1)?;
    let flag = matches!(entry.op(set), Some(Op::Write { .. })) && entry.span(set) == entry.span(close);
    match entry.resource(set) {
        Some(Resource::Flag(path)) if flag && *path == handle => Some(handle),
        _ => None,
    }
}

/// The read that decides whether the channel is closed: of the channel itself, or of a flag beside it.
fn asks(entry: &Entry<'_>, close: At, handle: &AccessPath) -> Option<At> {
    questions(entry, close, handle).next()
}

/// All of them, if it is asked more than once.
fn questions<'e>(entry: &'e Entry<'_>, close: At, handle: &'e AccessPath) -> impl Iterator<Item = At> + 'e {
    let about_it = move |read: &At| match (entry.op(*read), entry.resource(*read)) {
        (Some(Op::Read { .. }), Some(Resource::Flag(path))) => path == handle,
        (Some(Op::Read { .. }), Some(Resource::Shared(path))) => {
            path.root == handle.root && entry.alias().is_shared(path)
        }
        _ => false,
    };
    let checks = entry.control().control_dependences(close);
    checks
        .iter()
        .flat_map(move |check| entry.flow().condition_sources(*check).iter().copied())
        .filter(about_it)
}

/// Whether a lock is held at the close, and was held since the question that decides on it: one of them, if it is asked more than once.
fn is_under_lock(entry: &Entry<'_>, asked: Option<At>, close: At, handle: &AccessPath) -> bool {
    let since = |asked: At| entry.locks().race_window(asked, close).is_some_and(|window| window.is_locked());
    !entry.locks().mutexes(close).is_empty()
        && (asked.is_none() || questions(entry, close, handle).any(since))
}

/// Whether only the first gets here: a write that says who came first decides, or a flag that is tested and set under one hold of a lock.
fn is_claimed(entry: &Entry<'_>, close: At) -> bool {
    let tested = |set: At| {
        let checks = entry.control().control_dependences(close).iter();
        let mut asked = checks.flat_map(|check| entry.flow().condition_sources(*check));
        asked.any(|read| {
            *read < set
                && entry.resource(*read) == entry.resource(set)
                && entry.locks().race_window(*read, set).is_some_and(|window| window.is_locked())
        })
    };
    let set_under_lock = |at: At| match (entry.op(at), entry.resource(at)) {
        (Some(Op::Write { mode: WriteMode::Blind, from, .. }), Some(Resource::Shared(_))) => {
            from.is_empty() && tested(at)
        }
        _ => false,
    };
    entry.steps_of(Kinds::WRITE).any(|at| {
        let claims = |mode: &WriteMode| {
            matches!(mode, WriteMode::Conditional(_) | WriteMode::Exclusive | WriteMode::Atomic)
        };
        (matches!(entry.op(at), Some(Op::Write { mode, .. }) if claims(mode)) || set_under_lock(at))
            && at < close
            && entry.control().leads_to(at, close).is_some()
    })
}

/// Whether the channel is looked up and taken out of where it was found under one lock, before it is closed: who comes second finds
/// nothing there to close.
fn is_taken_out(entry: &Entry<'_>, close: At, handle: &AccessPath) -> bool {
    let leaves = |at: At| match entry.op(at) {
        Some(Op::Delete { .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, from, .. }) => from.is_empty(),
        _ => false,
    };
    let is_it = |at: At| matches!(entry.resource(at), Some(Resource::Shared(path)) if path == handle);
    let looks = |gone: At| {
        entry
            .steps_of(Kinds::READ)
            .filter(|read| *read < gone && is_it(*read))
            .any(|read| entry.locks().race_window(read, gone).is_some_and(|window| window.is_locked()))
    };
    entry.steps_of(Kinds::DELETE | Kinds::WRITE).any(|gone| {
        gone < close
            && leaves(gone)
            && is_it(gone)
            && entry.control().leads_to(gone, close).is_some()
            && looks(gone)
    })
}

fn issue(entry: &Entry<'_>, asked: Option<At>, close: At, handle: &AccessPath) -> Issue {
    let name = entry.path_text(handle);
    let message = format!(
        "two calls or goroutines may both find `{name}` open and close it; the second close of a channel is a panic that ends the program"
    );
    let closes = entry.position(close, &[]);
    let mut issue = Issue::at(entry, close, &[], Reach::InProcess, message).no_surer_than(Confidence::Medium);
    if let Some(asked) = asked {
        let position = entry.position(asked, &[close]);
        issue = issue.step(Lane::A, position, format!("finds `{name}` open")).step(
            Lane::B,
            position,
            format!("finds `{name}` open as well"),
        );
    }
    issue.step(Lane::A, closes, format!("closes `{name}`")).step(
        Lane::B,
        closes,
        format!("closes `{name}` again, and panics"),
    )
}

//! Torn writes on a shared stream: a frame goes out in several writes, and another writer comes in between.
//!
//! Reported:
//! ```text
//! await write(stdout, `Content-Length: ${n}\r\n\r\n`);   // reported here
//! await write(stdout, body);
//! ```
//! Not reported:
//! ```text
//! await write(stdout, `Content-Length: ${n}\r\n\r\n${body}`);   // one write
//! console.error("started"); console.error("ready");             // lines for people
//! ```
//!
//! A pipe that is written to from several processes is not seen.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Callee, Exit, Field, Interleaving, Op, Resource, Root, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::{Lexicon, Topic},
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// Finds `interleaved-output`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let beside = view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    beside.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let writes: Vec<At> = entry
        .all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Stream(_), .. }))
        .filter(|at| {
            let judge = || {
                let stream = stream_of(entry, *at).ok_or(Reason::OutOfScope)?;
                needs(entry.alias().is_shared(stream), Reason::OwnStream)?;
                unless(is_log(entry.lexicon(), stream), Reason::ForPeople)
            };
            entry.note(&HAZARD.id, &[*at], judge()).is_ok()
        })
        .collect();
    let mut found = vec![];
    let mut reported: Vec<At> = vec![];
    for first in writes.iter().copied() {
        if reported.contains(&first) {
            continue;
        }
        if may_be_cut(entry, first) {
            found.extend(entry.settle(&HAZARD.id, &[first], Ok(issue(entry, first, first))));
            continue;
        }
        let others = writes.iter().copied().filter(|second| *second != first);
        let same = others.filter(|second| entry.alias().overlap(first, *second).is_some());
        let rest: Vec<At> = same
            .filter(|second| {
                entry.note(&HAZARD.id, &[first, *second], is_one_frame(entry, first, *second)).is_ok()
            })
            .collect();
        if let Some(second) = rest.first() {
            found.extend(entry.settle(&HAZARD.id, &[first, *second], Ok(issue(entry, first, *second))));
            // The rest of the frame is part of the same story.
            reported.extend(rest);
        } else {
            let _ = entry.note(&HAZARD.id, &[first], Err::<(), _>(Reason::WholeFrame));
        }
    }
    found
}

fn stream_of<'v>(entry: &'v Entry<'_>, at: At) -> Option<&'v AccessPath> {
    match entry.resource(at) {
        Some(Resource::Stream(path)) => Some(path),
        _ => None,
    }
}

/// Lines for people, which nobody takes apart again.
fn is_log(lexicon: &Lexicon, stream: &AccessPath) -> bool {
    let named = |name: &str| lexicon.has(Topic::LogStream, name);
    let by_field = stream.fields.iter().any(|field| matches!(field, Field::Name(name) if named(name)));
    let by_root =
        matches!(&stream.root, Root::Global(name) if named(name.rsplit("::").next().unwrap_or_default()));
    by_field || by_root
}

/// Whether a single write may be taken apart by another thread's.
fn may_be_cut(entry: &Entry<'_>, at: At) -> bool {
    let threads = entry
        .program
        .function(entry.function_of(at))
        .is_some_and(|function| function.interleaving != Interleaving::AtSuspension);
    threads
        && matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Pieces, .. }))
        && entry.locks().mutexes(at).is_empty()
}

/// Whether two writes make one frame that another writer can come into: one follows the other with nothing but waiting in between,
/// and no lock covers both.
fn is_one_frame(entry: &Entry<'_>, first: At, second: At) -> Result<(), Reason> {
    let window = entry.locks().race_window(first, second).ok_or(Reason::OutOfScope)?;
    needs(window.suspends, Reason::NoSuspension)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let (from, to) = (first.min(second), first.max(second));
    // What comes with the next turn of a loop only goes on with the frame if the loop does nothing else.
    let next_turn = || {
        let head = entry
            .control()
            .loops(first)
            .iter()
            .rev()
            .find(|head| entry.control().encloses(**head, second))?;
        (!entry.control().comes_in_one_turn(first, second)).then(|| entry.control().inside(*head))
    };
    let between: Vec<At> = match next_turn() {
        Some(turn) => turn.filter(|at| *at != first && *at != second).collect(),
        None => (from + 1..to).collect(),
    };
    let only_waits = between.into_iter().all(|at| match entry.op(at) {
        Some(
            Op::Suspend
            | Op::Sleep { .. }
            | Op::Derive { .. }
            | Op::New { .. }
            | Op::Inlined { .. }
            | Op::Check { .. }
            | Op::Loop { .. }
            | Op::Try { .. }
            | Op::Spawn { .. }
            // Locks that do not cover both.
            | Op::Acquire { .. }
            | Op::Release { .. }
            | Op::Exit(Exit::Return(_) | Exit::Throw | Exit::Continue | Exit::Break),
        ) => true,
        Some(Op::Write { to: Resource::Stream(_), .. }) => entry.alias().overlap(first, at).is_some(),
        // Waiting until there is room again.
        Some(Op::Call { callee: Callee::Named(name), .. }) => {
            name.ends_with("once") || name.ends_with("drain")
        }
        // What a promise is settled with.
        Some(Op::Call { callee: Callee::Value(_), .. }) => true,
        Some(Op::Read { of: Resource::Shared(_), .. }) => true,
        _ => false,
    });
    needs(only_waits, Reason::WorkBetween)
}

fn issue(entry: &Entry<'_>, first: At, second: At) -> Issue {
    let story = [second];
    let thing = entry.thing(first);
    let (start, end) = (entry.position(first, &story), entry.position(second, &story));
    let message = format!(
        "a frame goes out on {thing} in several writes, so the frames of two calls at once mix and whoever reads {thing} can read nothing after them"
    );
    Issue::at(entry, first, &story, Reach::InProcess, message)
        .no_surer_than(if entry.control().is_awaited(first) { Confidence::High } else { Confidence::Medium })
        .step(Lane::A, start, "writes the first part of its frame")
        .step(Lane::B, start, "writes the first part of its frame into the middle of A's")
        .step(Lane::A, end, "writes the rest")
        .step(Lane::B, end, "writes the rest: the reader has lost the borders")
}

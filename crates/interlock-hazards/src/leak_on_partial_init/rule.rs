//! Resource leak on a failed initialisation: what was opened first stays open when the next step fails.
//!
//! Reported:
//! ```text
//! const reader = await open(a);                     // reported here
//! const writer = await open(b);                     // fails: nobody is left to close the reader
//! return { reader, writer };
//! ```
//! Not reported:
//! ```text
//! const reader = await open(a);
//! try { return { reader, writer: await open(b) }; }
//! catch (e) { await reader.close(); throw e; }
//! ```
//!
//! Start-up is left alone: where it fails the process ends, and the system closes what it had opened. What an object opens and keeps, and
//! another function is to close, is in `late.rs`.

use std::cell::RefCell;

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Bound, Callee, Exit, Op, Resource, Root, Term, Value},
};

use crate::{
    Issue, Reason,
    decision::unless,
    lexicon::Topic,
    view::{At, Entry, Escape, Kinds, Runs, View},
};

use super::{HAZARD, late};

/// Finds `leak-on-partial-init`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    // Where start-up fails, the process ends, and the system closes what it had opened.
    let survive = view.entries_with(Kinds::OPEN).filter(|entry| *entry.runs != Runs::StartUp);
    survive.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    // What says where the close should have stood is nearer to the point.
    let judged = |at: At| late::judge(entry, at).or_else(|_| judge(entry, at));
    let mut issues: Vec<Issue> = vec![];
    for at in entry.steps_of(Kinds::OPEN) {
        let issue = entry.settle(&HAZARD.id, &[at], judged(at));
        issues.extend(issue.filter(|issue| issues.iter().all(|known| known.span != issue.span)));
    }
    issues
}

fn judge(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Op::Open { handle }) = entry.op(at) else { return Err(Reason::OutOfScope) };
    let names = names_of(entry, handle);
    unless(is_kept(entry, at, &names), Reason::KeptForNextTry)?;
    let closes: Vec<At> = entry
        .all(Kinds::CLOSE, |op| matches!(op, Op::Close { handle: other } if closes(entry, other, &names)))
        .collect();
    // What an event closes is closed whichever way the function goes: a listener that only finds out whether a port is free.
    let is_spawned =
        |close: &At| entry.control().around(*close, |op| matches!(op, Op::Spawn { .. })).is_some();
    unless(closes.iter().any(is_spawned), Reason::ClosedOnFailure)?;
    let past = |step: At| closes.contains(&step) || leaves_it_to(entry, step, &closes);
    let branches = entry.control().exits(entry.control().behind(at), past);
    let (mut failures, mut answers) = (vec![], vec![]);
    for branch in branches {
        match branch {
            Escape::Failure(by) => failures.push(by),
            Escape::Return(by) => answers.push(by),
        }
    }
    failures.extend(given_back(entry, at, &closes));
    failures.sort_unstable();
    failures.dedup();
    let opens = |by: &&At| matches!(entry.op(**by), Some(Op::Open { .. }));
    let in_a_loop = |by: &&At| {
        **by == at
            && entry.control().loops(at).iter().any(|head| {
                matches!(entry.op(*head), Some(Op::Loop { bound: Bound::Each | Bound::Limited, .. }))
                    && is_made_inside(entry, *head, handle)
                    && !matches!(handle.root, Root::Value(opened) if late::others_have(entry, (*head, at), opened))
            })
    };
    let second = failures
        .iter()
        .find(|by| opens(by) && !is_same_attempt(entry, at, **by) && is_still_ours(entry, at, **by, &names))
        .or_else(|| failures.iter().find(in_a_loop));
    // A failure that is caught, and passed on in other words or answered, is the failure of what was tried.
    let in_other_words = || {
        let again = failures.iter().chain(&answers).find(|by| entry.control().is_recovery(**by))?;
        let attempt = entry.control().around(*again, |op| matches!(op, Op::Try { .. }))?;
        let ours = |step: At| failures.contains(again) || is_still_ours(entry, at, step, &names);
        entry.control().inside(attempt).find(|step| {
            matches!(entry.op(*step), Some(Op::Open { .. }))
                && !is_same_attempt(entry, at, *step)
                && entry.control().leads_to(at, *step).is_some()
                && ours(*step)
        })
    };
    // What the function opens for others to use can also be left behind by a first use that fails.
    let hands_on = || is_handed_on(entry, at, &names);
    let first_use =
        || failures.iter().find(|by| **by != at && uses(entry, **by)).copied().filter(|_| hands_on());
    // The same where a caller catches all failures: the first request over the handle that was opened.
    let answered_use = || {
        let again = answers.iter().find(|by| entry.control().is_recovery(**by))?;
        let attempt = entry.control().around(*again, |op| matches!(op, Op::Try { .. }))?;
        let asks = |step: &At| is_first_question(entry, at, *step, handle);
        entry.control().inside(attempt).find(asks).filter(|_| hands_on())
    };
    let (by, confidence) = match second.copied().or_else(in_other_words) {
        Some(by) => (by, Confidence::High),
        None => (first_use().or_else(answered_use).ok_or(Reason::ClosedOnFailure)?, Confidence::Medium),
    };
    let name = entry.path_text(handle);
    let story = [by];
    let message = format!(
        "if the next step of the start fails, what was opened as `{name}` stays open and nobody is left to close it"
    );
    let fails = match entry.op(by) {
        Some(Op::Open { handle: other }) if by != at => format!("fails to open `{}`", entry.path_text(other)),
        Some(Op::Open { .. }) => "fails at a later turn of the loop".into(),
        _ => "fails".into(),
    };
    let issue = Issue::at(entry, at, &story, Reach::InProcess, message)
        .step(Lane::A, entry.position(at, &story), format!("opens `{name}`"))
        .step(Lane::X, entry.position(by, &story), fails)
        .step(Lane::A, entry.position(by, &story), format!("passes the error on; `{name}` stays open"))
        .step(Lane::B, entry.position(at, &story), "tries again, and opens another one");
    Ok(issue.no_surer_than(confidence))
}

/// The steps whose failure a function gives back while the handle is open, where failures are values. Whoever called has nothing to close.
fn given_back(entry: &Entry<'_>, at: At, closes: &[At]) -> Vec<At> {
    if unwinds(entry, at) {
        return vec![];
    }
    // What is called like a close may be meant for it, whatever it is called on.
    let called_so = |op: &Op| match op {
        Op::Call { callee: Callee::Named(name), .. } => entry.lexicon().has_inside(Topic::Closes, name),
        _ => false,
    };
    let closes: Vec<At> = closes.iter().copied().chain(entry.all(Kinds::CALL, called_so)).collect();
    // Whoever called may put off a close as well, but only of what it was given.
    let is_put_off = |close: &At| {
        let around_both =
            |attempt: At| entry.control().encloses(attempt, *close) && entry.control().encloses(attempt, at);
        entry.control().is_finally(*close)
            && entry.control().leads_to(entry.control().detached(at).unwrap_or(at), *close).is_some()
            && (entry.frame_of(*close) == entry.frame_of(at) || entry.steps_of(Kinds::TRY).any(around_both))
    };
    if closes.iter().any(is_put_off) {
        return vec![];
    }
    // A loop over all open handles closes this one, and so does a branch that tests first whether there is one.
    let closes_inside = |step: At| {
        matches!(entry.op(step), Some(Op::Check { .. } | Op::Loop { .. }))
            && !entry.control().encloses(step, at)
            && closes.iter().any(|close| entry.control().encloses(step, *close))
    };
    let past = |step: At| closes.contains(&step) || closes_inside(step);
    let passed = RefCell::new(vec![]);
    let _ = entry.control().exits(entry.control().behind(at), |step| {
        passed.borrow_mut().push(step);
        past(step)
    });
    let leaves = |end: At| !entry.control().exits(vec![end], past).is_empty();
    let ends = passed.into_inner().into_iter();
    ends.filter_map(|end| failed(entry, at, end).filter(|_| leaves(end))).collect()
}

/// Whether a failure at a step unwinds the stack, and is no value.
fn unwinds(entry: &Entry<'_>, at: At) -> bool {
    entry.program.function(entry.function_of(at)).is_none_or(|it| it.unwinds)
}

/// The step whose failure leads to an end, where failures are values: `if err != nil { return nil, err }`.
fn failed(entry: &Entry<'_>, at: At, end: At) -> Option<At> {
    let gives_back = matches!(entry.op(end), Some(Op::Exit(Exit::Return(_))));
    if !gives_back || entry.frame_of(end) != entry.frame_of(at) || unwinds(entry, end) {
        return None;
    }
    let is_error = |value: &&Value| entry.name_of(**value).to_ascii_lowercase().ends_with("err");
    let check = entry.control().control_dependences(end).iter().rev().find(|check| {
        **check > at
            && entry.control().answer(**check, end) == Some(false)
            && entry.control().encloses(**check, end)
    })?;
    let Some(Op::Check { on, .. }) = entry.op(*check) else { return None };
    let error = on.iter().find(is_error)?;
    let says = |step: &At| match entry.op(*step) {
        Some(Op::Open { handle: AccessPath { root: Root::Value(value), .. } }) => {
            entry.flow().depends_on(*error, *value)
        }
        Some(Op::External { into: Some(value), .. }) => entry.flow().depends_on(*error, *value),
        _ => false,
    };
    (at..*check).rev().find(says)
}

/// Whether a step sends a request over the handle before the handle is stored where other calls find it.
fn is_first_question(entry: &Entry<'_>, at: At, step: At, handle: &AccessPath) -> bool {
    let (Some(Op::External { over: Some(asked), .. }), Root::Value(opened)) = (entry.op(step), &handle.root)
    else {
        return false;
    };
    let Root::Value(asked) = asked.root else { return false };
    let keeps = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), from, .. } if from.iter().any(|from| entry.flow().depends_on(*from, *opened)));
    (asked == *opened || entry.flow().depends_on(asked, *opened))
        && entry.control().leads_to(at, step).is_some()
        && !entry.all(Kinds::WRITE, keeps).any(|kept| entry.control().leads_to(kept, step).is_some())
}

/// Whether each turn of a loop makes a handle of its own. One that is told to open again at every turn has nothing open from the turn that failed.
fn is_made_inside(entry: &Entry<'_>, head: At, handle: &AccessPath) -> bool {
    let Root::Value(value) = entry.alias().resolve_path(handle).root else { return false };
    let makes = |step: At| matches!(entry.op(step), Some(Op::New { into, .. }) if *into == value);
    entry.control().inside(head).any(|step| makes(step) || entry.flow().definition_site(value) == Some(step))
}

/// Whether two steps open one thing that was made once: a listener that is told to listen again holds nothing from its first attempt.
fn is_same_attempt(entry: &Entry<'_>, one: At, other: At) -> bool {
    let handle = |at: At| match entry.op(at) {
        Some(Op::Open { handle }) if handle.fields.is_empty() => Some(entry.alias().resolve_path(handle)),
        _ => None,
    };
    one == other || handle(one).is_some_and(|path| Some(path) == handle(other))
}

/// The paths under which a handle is known: its own, and where it was stored.
fn names_of(entry: &Entry<'_>, handle: &AccessPath) -> Vec<AccessPath> {
    let mut names = vec![entry.alias().resolve_path(handle)];
    if let Root::Value(value) = handle.root
        && handle.fields.is_empty()
    {
        names.extend(stored_at(entry, value));
    }
    names
}

fn stored_at(entry: &Entry<'_>, value: Value) -> Vec<AccessPath> {
    let stores = entry.all(Kinds::WRITE, |op| {
        matches!(op, Op::Write { to: Resource::Shared(_), from, .. } if from.iter().any(|from| entry.flow().depends_on(*from, value)))
    });
    let path = |at: At| match entry.resource(at) {
        Some(Resource::Shared(path)) if entry.alias().is_shared(path) => Some(path.clone()),
        _ => None,
    };
    stores.filter_map(path).collect()
}

/// Whether closing one path closes what is known under some names. A close of something that was not opened here, an item of a list
/// or what a helper was given, may be meant for any of them.
fn closes(entry: &Entry<'_>, closed: &AccessPath, names: &[AccessPath]) -> bool {
    let resolved = entry.alias().resolve_path(closed);
    if names.contains(&resolved) {
        return true;
    }
    let others = entry.steps_of(Kinds::OPEN).filter_map(|at| match entry.op(at) {
        Some(Op::Open { handle }) => Some(entry.alias().resolve_path(handle)),
        _ => None,
    });
    let known = others.into_iter().any(|other| other == resolved);
    !known && matches!(resolved.root, Root::Value(_))
}

/// Whether the place is looked at first, so that a second try uses what the first has left.
fn is_kept(entry: &Entry<'_>, at: At, names: &[AccessPath]) -> bool {
    entry.flow().controlling_reads(at).any(|(_, source)| match entry.resource(source) {
        Some(Resource::Shared(path)) => names.contains(path),
        _ => false,
    })
}

/// A test whether there is anything to close.
fn leaves_it_to(entry: &Entry<'_>, step: At, closes: &[At]) -> bool {
    let on_the_way_out = entry.control().is_recovery(step) || entry.control().is_finally(step);
    let tests = matches!(entry.op(step), Some(Op::Check { .. } | Op::Loop { .. } | Op::Together { .. }));
    on_the_way_out && tests && closes.iter().any(|close| entry.control().encloses(step, *close))
}

/// Whether the handle leaves the function: it is returned or stored, so that whoever called is to close it.
fn is_handed_on(entry: &Entry<'_>, at: At, names: &[AccessPath]) -> bool {
    if names.len() > 1 {
        return true;
    }
    let Some(Op::Open { handle: AccessPath { root: Root::Value(value), .. } }) = entry.op(at) else {
        return false;
    };
    let returns = |op: &Op| match op {
        Op::Exit(Exit::Return(values)) => values.iter().any(|returned| holds(entry, *returned, *value)),
        _ => false,
    };
    entry.all(Kinds::OTHER, returns).any(|exit| entry.control().leads_to(at, exit).is_some())
}

/// Whether a value is another, or an object that was put together with it inside. What a call makes of it is something else.
pub(super) fn holds(entry: &Entry<'_>, whole: Value, part: Value) -> bool {
    let mut seen = vec![whole];
    let mut next = 0;
    while let Some(value) = seen.get(next).copied() {
        next += 1;
        if value == part {
            return true;
        }
        let inputs = entry.all(
            Kinds::DERIVE,
            |op| matches!(op, Op::Derive { into, term, .. } if *into == value && *term != Term::Unknown),
        );
        for at in inputs {
            if let Some(Op::Derive { from, .. }) = entry.op(at) {
                let new: Vec<Value> = from.iter().filter(|from| !seen.contains(from)).copied().collect();
                seen.extend(new);
            }
        }
    }
    false
}

/// Whether the handle is still in somebody's hands when a later step fails: the step belongs to the function that opened it, or that
/// function has handed it out.
fn is_still_ours(entry: &Entry<'_>, at: At, later: At, names: &[AccessPath]) -> bool {
    entry.home(&[at, later]) == entry.function_of(at) || is_handed_on(entry, at, names)
}

/// Whether a step talks to what was opened or to the world: something that is likely to fail at a start.
fn uses(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.op(at), Some(Op::External { .. } | Op::Open { .. }))
        || matches!(entry.resource(at), Some(Resource::Row { .. } | Resource::Key(_)))
}

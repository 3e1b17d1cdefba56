//! A variable of one call that all of the goroutines which it starts change, with no lock: what one of them adds, another one overwrites.
//!
//! Reported:
//! ```text
//! for _, url := range urls {
//!     go func() { results = append(results, fetch(url)) }()     // reported here
//! }
//! ```
//! Not reported:
//! ```text
//! for i, url := range urls {
//!     go func() { results[i] = fetch(url) }()                   // a slot for each
//! }
//! go func() { mu.Lock(); results = append(results, answer); mu.Unlock() }()
//! ```
//!
//! Only a loop is looked at: the goroutines that it starts are sure to be several. Where one of them is waited for in the turn that has
//! started it, they run one after another. What other calls find as well is told by the rules about those.

use interlock_model::{
    Lane, Reach, Span,
    ir::{AccessPath, Bound, Field, Hold, Interleaving, LockKind, Op, Resource, Root, Start, Term},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, Runs, View},
};

use super::HAZARD;

/// The variables that goroutines of one call change side by side, each told once.
pub(super) fn gathered(view: &View<'_>) -> Vec<Issue> {
    let mut told: Vec<Span> = vec![];
    let mut issues = vec![];
    for entry in view.entries_with(Kinds::CHANGES).filter(|entry| *entry.runs != Runs::StartUp) {
        for at in entry.steps_of(Kinds::WRITE | Kinds::DELETE) {
            let Some((spawn, head)) = spawned_by_turns(entry, at) else { continue };
            let span = entry.span(at);
            if told.contains(&span) {
                continue;
            }
            if let Some(issue) = entry.settle(&HAZARD.id, &[at], judge(view, entry, at, (spawn, head))) {
                told.push(span);
                issues.push(issue);
            }
        }
    }
    issues
}

/// The start of the goroutine that a step runs in, and the loop that starts one after the other.
fn spawned_by_turns(entry: &Entry<'_>, at: At) -> Option<(At, At)> {
    let runs_anywhere = |function: &interlock_model::ir::Function| {
        !function.unwinds && function.interleaving == Interleaving::Anywhere
    };
    entry.program.function(entry.function_of(at)).filter(|function| runs_anywhere(function))?;
    let spawn = entry.control().detached(at)?;
    needs(matches!(entry.op(spawn), Some(Op::Spawn { start: Start::Now, .. })), Reason::OutOfScope).ok()?;
    let is_loop = |op: &Op| matches!(op, Op::Loop { bound: Bound::Each | Bound::Limited, .. });
    let head = entry.control().around(spawn, is_loop)?;
    Some((spawn, head))
}

fn judge(view: &View<'_>, entry: &Entry<'_>, at: At, (spawn, head): (At, At)) -> Result<Issue, Reason> {
    let Some(Resource::Shared(path)) = entry.resource(at) else { return Err(Reason::OutOfScope) };
    let is_map = view.program.bare_maps.contains(&entry.span(at));
    // A slot for each is nobody else's.
    let is_entry = path.fields.iter().any(|field| matches!(field, Field::At(_)));
    needs(is_map || !is_entry, Reason::OneOfMany)?;
    needs(!entry.alias().is_shared(path), Reason::ReportedElsewhere)?;
    needs(is_of_all_turns(entry, path, head), Reason::OwnRecord)?;
    let read = replaced_read(entry, at, spawn);
    needs(is_map || read.is_some(), Reason::NotComputedFromRead)?;
    unless(is_locked(entry, at, spawn), Reason::HeldLock)?;
    let waits = |op: &Op| matches!(op, Op::Drain { .. });
    let one_by_one = entry
        .all(Kinds::OTHER, waits)
        .any(|wait| entry.control().encloses(head, wait) && !entry.control().encloses(spawn, wait));
    unless(one_by_one, Reason::NotAfter)?;
    let thing = entry.thing(at);
    let message = if is_map {
        format!(
            "{thing} is changed by goroutines that run side by side with no lock, and a map that two of them change at once ends the program"
        )
    } else {
        format!(
            "{thing} is changed by goroutines that run side by side with no lock, so what one of them adds is overwritten by another"
        )
    };
    let here = entry.position(at, &[]);
    let seen = read.map_or(here, |read| entry.position(read, &[at]));
    let last = if is_map { "at the same time: the program ends" } else { "what A has added is gone" };
    Ok(Issue::at(entry, at, &[], Reach::InProcess, message)
        .step(Lane::A, seen, format!("one goroutine finds {thing} as it is"))
        .step(Lane::B, seen, format!("another one finds {thing} as it is"))
        .step(Lane::A, here, format!("writes {thing}"))
        .step(Lane::B, here, format!("writes {thing}: {last}")))
}

/// Whether a variable was there before a loop began, so that all of its turns mean the same one.
fn is_of_all_turns(entry: &Entry<'_>, path: &AccessPath, head: At) -> bool {
    let Root::Value(value) = entry.alias().resolve_path(path).root else { return false };
    let makes = |op: &Op| match op {
        Op::New { into, .. } => *into == value,
        Op::Derive { into, term: Term::Literal(_), .. } => *into == value,
        _ => false,
    };
    let mut made = entry.all(Kinds::NEW | Kinds::DERIVE, makes);
    made.next().is_some_and(|made| !entry.control().encloses(head, made))
}

/// Where the same goroutine looks at the thing that it then puts something else in place of, which was computed from what it saw.
fn replaced_read(entry: &Entry<'_>, at: At, spawn: At) -> Option<At> {
    let (Some(Op::Write { from, .. }), Some(Resource::Shared(path))) = (entry.op(at), entry.resource(at))
    else {
        return None;
    };
    let seen = entry.flow().backward_slice(from);
    let looks = |step: &At| match entry.op(*step) {
        Some(Op::Derive { into, term: Term::Path(of), .. }) => {
            seen.contains(into) && entry.alias().resolve_path(of) == *path
        }
        Some(Op::Read { into, .. }) => seen.contains(into) && entry.resource(*step) == entry.resource(at),
        _ => false,
    };
    entry.control().inside(spawn).take_while(|step| *step < at).find(looks)
}

/// Whether the goroutine itself has taken a lock that it alone can have. One of the call that started it keeps no goroutine out.
fn is_locked(entry: &Entry<'_>, at: At, spawn: At) -> bool {
    entry.locks().held(at).iter().any(|held| {
        let takes = match entry.op(*held) {
            Some(Op::Acquire { lock, hold: Hold::Exclusive, .. }) => lock.kind == LockKind::Mutex,
            _ => false,
        };
        takes && entry.control().encloses(spawn, *held)
    })
}

//! Several things that one object opens and keeps, of which some stay open because the close, or whoever could close them, is only put in
//! charge where all went well.
//!
//! Reported:
//! ```text
//! m := NewManager()
//! if err := m.Load(ctx, servers); err != nil {          // reported here: those that were connected stay so
//!     return err
//! }
//! defer m.Close()
//! ```
//! Not reported:
//! ```text
//! m := NewManager()
//! defer m.Close()                                       // whatever becomes of the load
//! if err := m.Load(ctx, servers); err != nil {
//!     return err
//! }
//! ```
//!
//! What the function that opens gives back itself is in `rule.rs`. An object that others have before the load is theirs to close.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Argument, Bound, Callee, Exit, Field, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds},
};

use super::rule::holds;

/// Judges one of several things that are opened turn by turn and kept in an object of this very call.
pub(super) fn judge(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Op::Open { handle: AccessPath { root: Root::Value(opened), fields } }) = entry.op(at) else {
        return Err(Reason::OutOfScope);
    };
    needs(fields.is_empty(), Reason::OutOfScope)?;
    let each = |op: &Op| matches!(op, Op::Loop { bound: Bound::Each | Bound::Limited, .. });
    let head = entry.control().around(at, each).ok_or(Reason::OutOfScope)?;
    unless(stops_when_done(entry, head), Reason::OutOfScope)?;
    let kept = collection(entry, (head, at), *opened).ok_or(Reason::OneOfMany)?;
    let object = object_of(entry, &kept).ok_or(Reason::ReleasedElsewhere)?;
    // Where the function that opens has made the object, it is the one to see to it.
    let made = made_at(entry, object).ok_or(Reason::ReleasedElsewhere)?;
    unless(entry.runs_inside_of(head, made), Reason::ReportedElsewhere)?;
    let closes = entry.all(
        Kinds::CLOSE,
        |op| matches!(op, Op::Close { handle } if entry.alias().resolve_path(handle).begins_with(&kept)),
    );
    let cared_for: Vec<At> = closes.chain(handed_on(entry, object)).collect();
    let failed = |check: &At| *check > at && is_failure(entry, *check) && !entry.runs_inside_of(head, *check);
    let first = *cared_for.first().ok_or(Reason::ReleasedElsewhere)?;
    let spares = |check: &At, step: At| {
        entry.control().control_dependences(step).contains(check)
            && entry.control().answer(*check, step) == Some(true)
    };
    let checks = entry.control().control_dependences(first).iter().copied().filter(failed);
    let check = checks
        .into_iter()
        .find(|check| cared_for.iter().all(|step| spares(check, *step)))
        .ok_or(Reason::ClosedOnFailure)?;
    let name = entry.path_text(&kept);
    let story = [check, first];
    let message = format!(
        "what is kept in `{name}` is closed only if all of it could be opened: where the start fails half way, nobody is left to close what is open by then"
    );
    let closes = matches!(entry.op(first), Some(Op::Close { .. }));
    let spared = if closes {
        "would close them, and is never reached"
    } else {
        "would hand them on, and is never reached"
    };
    let issue = Issue::at(entry, at, &story, Reach::InProcess, message)
        .step(
            Lane::A,
            entry.position(at, &story),
            format!("opens one after the other, and keeps them in `{name}`"),
        )
        .step(Lane::X, entry.position(check, &[at, first]), "a later one fails, and the whole start with it")
        .step(Lane::A, entry.position(first, &[at, check]), spared)
        .step(Lane::B, entry.position(at, &story), "tries again, and opens others");
    Ok(issue.no_surer_than(Confidence::Medium))
}

/// Whether a loop ends where one of its turns has worked: it goes on to the next because the last one failed, and has nothing else open.
fn stops_when_done(entry: &Entry<'_>, head: At) -> bool {
    let is_each = matches!(entry.op(head), Some(Op::Loop { bound: Bound::Each, .. }));
    entry.control().inside(head).filter(|step| entry.frame_of(*step) == entry.frame_of(head)).any(|step| {
        match entry.op(step) {
            Some(Op::Exit(Exit::Return(values))) => values.is_empty(),
            Some(Op::Exit(Exit::Break)) => is_each && entry.control().loops(step).last() == Some(&head),
            _ => false,
        }
    })
}

/// Whether others find what a turn of a loop has opened before a later turn fails: in a map that all share, or in an object that they have
/// already.
pub(super) fn others_have(entry: &Entry<'_>, (head, at): (At, At), opened: Value) -> bool {
    let Some(kept) = collection(entry, (head, at), opened) else { return false };
    let given_before = |object: Value| {
        handed_on(entry, object).into_iter().any(|step| {
            matches!(entry.op(step), Some(Op::Write { .. })) && entry.control().leads_to(step, at).is_some()
        })
    };
    entry.alias().is_shared(&kept) || object_of(entry, &kept).is_some_and(given_before)
}

/// The map, list or object in which what every turn opens is kept.
fn collection(entry: &Entry<'_>, (head, at): (At, At), opened: Value) -> Option<AccessPath> {
    let is_it = |value: &Value| *value == opened || entry.flow().depends_on(*value, opened);
    // What is put into something that this call has made is computing by now: it has become a part of it.
    let keeps = |op: &Op| match op {
        Op::Write { to: Resource::Shared(_), from, .. } => from.iter().any(is_it),
        Op::Derive { into, from, term: Term::Unknown } => *into != opened && from.iter().any(is_it),
        _ => false,
    };
    entry.all(Kinds::WRITE | Kinds::DERIVE, keeps).find_map(|kept| {
        // Who stops at the first that works has nothing else open.
        let beside = entry.control().detached(at).is_some_and(|spawn| entry.control().encloses(head, spawn));
        if !entry.control().encloses(head, kept) || !beside && entry.control().leads_to(kept, head).is_none()
        {
            return None;
        }
        match entry.op(kept)? {
            Op::Derive { into, .. } => {
                let whole = entry.alias().resolve_path(&AccessPath::of(Root::Value(*into)));
                let made = object_of(entry, &whole).and_then(|object| made_at(entry, object))?;
                (!entry.control().encloses(head, made)).then_some(whole)
            }
            op => {
                let Some(Resource::Shared(path)) = entry.resource(kept) else { return None };
                let adds = matches!(op, Op::Write { mode: WriteMode::Append, .. });
                let end = path.fields.iter().position(|field| matches!(field, Field::At(_)));
                let end = end.or_else(|| adds.then_some(path.fields.len()))?;
                let fields = path.fields.get(..end)?.iter().cloned().collect();
                Some(AccessPath { root: path.root.clone(), fields })
            }
        }
    })
}

/// Where an object was made.
fn made_at(entry: &Entry<'_>, object: Value) -> Option<At> {
    entry.all(Kinds::NEW, |op| matches!(op, Op::New { into, .. } if *into == object)).next()
}

/// The object that a map or list is in, where this call has made it.
fn object_of(entry: &Entry<'_>, kept: &AccessPath) -> Option<Value> {
    match entry.alias().resolve_path(kept).root {
        Root::Value(object) if entry.alias().is_made_here(kept) => Some(object),
        _ => None,
    }
}

/// Where an object gets to others, who may see to it from then on: it is stored where all find it, given back, or handed to a function
/// of which nothing is known.
fn handed_on(entry: &Entry<'_>, object: Value) -> Vec<At> {
    let is_it = |value: &Value| holds(entry, *value, object);
    let hands_on = |op: &Op| match op {
        Op::Write { to: Resource::Shared(path), from, .. } => {
            entry.alias().is_shared(path) && from.iter().any(is_it)
        }
        Op::Exit(Exit::Return(values)) => values.iter().any(is_it),
        Op::Call { arguments, callee: Callee::Named(_) | Callee::Value(_), .. } => {
            arguments.iter().any(|argument| match argument {
                Argument::Term(term) => term.mentioned().iter().any(is_it),
                Argument::Closure { captures, .. } => {
                    captures.iter().any(|term| term.mentioned().iter().any(is_it))
                }
            })
        }
        _ => false,
    };
    let kinds = Kinds::WRITE | Kinds::CALL | Kinds::OTHER;
    // What gives it back to the function that goes on with it here is no way out.
    let leaves = |at: &At| !matches!(entry.op(*at), Some(Op::Exit(_))) || entry.frame_of(*at) == 0;
    entry.all(kinds, hands_on).filter(leaves).collect()
}

/// Whether a check asks for a failure: `if err != nil`.
fn is_failure(entry: &Entry<'_>, check: At) -> bool {
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    on.iter().any(|value| entry.name_of(*value).to_ascii_lowercase().ends_with("err"))
}

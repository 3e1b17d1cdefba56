//! A flag of a library is asked whether something is open, and it is opened if not: the flag is only set when that is done.
//!
//! Reported:
//! ```text
//! if (!source.isInitialized) await source.initialize();   // reported here: two calls both set up
//! ```
//! Not reported:
//! ```text
//! opening ??= source.initialize();                        // all wait for one
//! await opening;
//! ```

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Field, Op, Resource},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    gates::Gates,
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// What is opened because a flag of its own says that it is not.
pub(super) fn opened(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::OPEN).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let mut gates = Gates::default();
    let mut issues = vec![];
    for open in entry.steps_of(Kinds::OPEN) {
        let Some(Op::Open { handle }) = entry.op(open) else { continue };
        let Some((check, flag)) = asked(entry, handle, open) else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[flag, open], judge(entry, &mut gates, (check, flag, open))));
    }
    issues
}

/// The check of a flag of the object itself that decides that it is opened, and the read of the flag.
fn asked(entry: &Entry<'_>, handle: &AccessPath, open: At) -> Option<(At, At)> {
    let object = entry.alias().resolve_path(handle);
    entry.flow().controlling_reads(open).find(|(check, read)| {
        let Some(Resource::Shared(seen)) = entry.resource(*read) else { return false };
        let of_object = match seen.fields.split_last() {
            Some((Field::Name(_), before)) => seen.root == object.root && before == object.fields.as_slice(),
            _ => false,
        };
        of_object && entry.control().answer(*check, open) == Some(false)
    })
}

/// Whether the promise of what is opened is kept before anybody else can ask.
fn is_kept(entry: &Entry<'_>, open: At) -> bool {
    let keeps = |at: At| {
        at > open
            && matches!(entry.op(at), Some(Op::Write { to: Resource::Shared(_), .. }))
            && entry.control().leads_to(open, at) == Some(false)
    };
    entry.steps_of(Kinds::WRITE).any(keeps)
}

fn judge(entry: &Entry<'_>, gates: &mut Gates, (_, flag, open): (At, At, At)) -> Result<Issue, Reason> {
    let Some(Resource::Shared(path)) = entry.resource(flag) else { return Err(Reason::OutOfScope) };
    needs(entry.alias().is_shared(path), Reason::OutOfScope)?;
    // Who sets the flag itself is judged by that.
    let sets = |at: At| entry.resource(at) == entry.resource(flag);
    unless(entry.steps_of(Kinds::WRITE).any(sets), Reason::ReportedElsewhere)?;
    unless(gates.single_flight(entry, flag, open) || is_kept(entry, open), Reason::SingleFlight)?;
    let window = entry.locks().race_window(flag, open).ok_or(Reason::NotAfter)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let thing = entry.thing(flag);
    let message = format!(
        "{thing} is asked first and set only when it is open, so calls that come at the same time open it again each"
    );
    let (seen, done) = (entry.position(flag, &[open]), entry.position(open, &[flag]));
    Ok(Issue::at(entry, flag, &[open], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("finds {thing} not set"))
        .step(Lane::A, done, "begins to open it, and waits")
        .step(Lane::B, seen, format!("finds {thing} not set"))
        .step(Lane::B, done, "opens it once more"))
}

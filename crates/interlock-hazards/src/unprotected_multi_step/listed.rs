//! Rows that a caller lists are added one by one without a transaction: a crash half way leaves the first ones.
//!
//! Reported:
//! ```text
//! for (const title of titles) insert.run(task, title);          // reported here
//! ```
//! Not reported:
//! ```text
//! db.transaction(() => titles.forEach((title) => insert.run(task, title)))();   // all or none
//! for (const title of titles) try { insert.run(task, title); } catch { failed.push(title); }   // each for itself, and said so
//! ```
//!
//! Rows under a key that the caller gives are refused when they come again, and so are not added twice; those are left alone.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{Bound, Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds},
};

use super::{HAZARD, readers::Readers, step::has_partner};

/// The rows of an entry that are added one by one for what the caller has listed.
pub(super) fn listed(entry: &Entry<'_>, readers: &Readers, reported: &[At]) -> Vec<Issue> {
    let adds = |op: &Op| matches!(op, Op::Write { to: Resource::Row { .. }, mode: WriteMode::Exclusive, .. });
    let mut found: Vec<(At, Issue)> = vec![];
    for at in entry.all(Kinds::WRITE, adds).filter(|at| !reported.contains(at)) {
        let Some(head) = entry.control().loops(at).last().copied() else { continue };
        // Several rows of one turn are one story.
        if found.iter().any(|(other, _)| *other == head) {
            continue;
        }
        if let Some(issue) = entry.settle(&HAZARD.id, &[at], judge(entry, readers, head, at)) {
            found.push((head, issue));
        }
    }
    found.into_iter().map(|(_, issue)| issue).collect()
}

fn judge(entry: &Entry<'_>, readers: &Readers, head: At, at: At) -> Result<Issue, Reason> {
    let Some(Op::Loop { bound: Bound::Each, item: Some(item), .. }) = entry.op(head) else {
        return Err(Reason::OutOfScope);
    };
    needs(entry.is_tool() && is_given(entry, *item), Reason::NotFromCaller)?;
    has_partner(entry, at, readers)?;
    needs(entry.control().detached(at).is_none(), Reason::Detached)?;
    unless(is_named(entry, at, *item), Reason::UniqueKey)?;
    unless(takes_the_place(entry, at), Reason::ReportedElsewhere)?;
    let tries = |op: &Op| matches!(op, Op::Try { catch: Some(_), .. });
    let attempt = entry.control().around(at, tries);
    unless(attempt.is_some_and(|attempt| attempt > head), Reason::BestEffort)?;
    needs(entry.locks().open(at).is_empty(), Reason::InTransaction)?;
    let Some(Resource::Row { table, .. }) = entry.resource(at) else { return Err(Reason::OutOfScope) };
    let table = entry.quoted(table);
    let span = entry.position(at, &[head]);
    let message = format!(
        "rows of {table} are added one by one for what the caller lists, but nothing binds them: a crash or an error half way leaves the first \
         ones, and the next try adds them again"
    );
    let reach = if entry.control().lets_others_in(at) { Reach::Both } else { Reach::CrossProcess };
    Ok(Issue::at(entry, at, &[head], reach, message)
        .no_surer_than(Confidence::Medium)
        .only(Severity::Medium)
        .step(Lane::A, span, format!("adds the first rows of {table}"))
        .step(Lane::X, span, "a crash, a timeout or an error: the rest never comes")
        .step(Lane::A, span, "is sent again: the first ones are there twice"))
}

/// Whether rows of the same table are removed before, so that these take their place.
fn takes_the_place(entry: &Entry<'_>, at: At) -> bool {
    let same = |gone: At| match (entry.resource(gone), entry.resource(at)) {
        (Some(Resource::Row { table, .. }), Some(Resource::Row { table: other, .. })) => {
            table.names_the_same_as(other)
        }
        _ => false,
    };
    entry
        .steps_of(Kinds::DELETE)
        .any(|gone| gone < at && same(gone) && entry.control().leads_to(gone, at).is_some())
}

/// Whether the caller has chosen a value.
fn is_given(entry: &Entry<'_>, value: Value) -> bool {
    let given = |value: &Value| entry.flow().origin(*value).is_some_and(|origin| origin.is_argument());
    given(&value) || entry.flow().backward_slice(&[value]).iter().any(given)
}

/// Whether each row has a name of its own that the caller gives it, so that the store refuses a second one.
fn is_named(entry: &Entry<'_>, at: At, item: Value) -> bool {
    match entry.resource(at) {
        Some(Resource::Row { key, .. }) => {
            let names = entry.flow().values_in(&entry.alias().resolve(key));
            let of_item = |value: &Value| entry.flow().depends_on(*value, item);
            names.iter().any(of_item) && !names.iter().any(|value| entry.flow().is_drawn(*value))
        }
        _ => true,
    }
}

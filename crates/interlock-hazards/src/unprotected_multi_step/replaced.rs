//! Delete and insert without a transaction: a crash between the two leaves the rows gone.
//!
//! Reported:
//! ```text
//! await db.run("DELETE FROM tags WHERE note = ?", id);          // reported here
//! for (const tag of tags) await db.run("INSERT INTO tags (note, tag) VALUES (?, ?)", id, tag);
//! ```
//! Not reported:
//! ```text
//! await db.run("DELETE FROM tags WHERE expires < ?", now);      // only what has run out
//! await db.run("INSERT INTO tags (note, tag) VALUES (?, ?)", id, tag);
//! ```
//!
//! Tables that nobody reads are left alone.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{Name, Op, Resource, Term, Value, WriteMode},
};

use super::{HAZARD, rule::is_one_statement, step::is_step};
use crate::{
    Issue, Reason,
    decision::{needs, unless},
    keys::key_of,
    lexicon::Topic,
    rows::has_in_common,
    view::{At, Entry, Kinds, View},
};

/// The removals of an entry behind which rows with the same in common are added. Where only some of the rows are removed, such as
/// those that have run out, nothing is replaced.
pub(super) fn replaced(view: &View<'_>, entry: &Entry<'_>, reported: &[At]) -> Vec<Issue> {
    let all = |gone: At| matches!(entry.op(gone), Some(Op::Delete { when: None, .. }));
    let removals = entry
        .steps_of(Kinds::DELETE)
        .filter(|gone| all(*gone) && !reported.contains(gone) && is_step(entry, *gone).is_ok());
    removals
        .filter_map(|gone| {
            let put = put_back(view, entry, gone);
            entry.settle(&HAZARD.id, &[gone], put).map(|new| issue(entry, gone, new))
        })
        .collect()
}

/// The step that puts something in place of what was removed.
fn put_back(view: &View<'_>, entry: &Entry<'_>, gone: At) -> Result<At, Reason> {
    let Some(Resource::Row { table, .. }) = entry.resource(gone) else { return Err(Reason::OutOfScope) };
    let adds = |new: &At| match entry.op(*new) {
        Some(Op::Write { mode, from, .. }) => {
            let adds = matches!(mode, WriteMode::Exclusive | WriteMode::Ensure)
                && has_in_common(entry, gone, *new, from)
                || refills(entry, gone, *new, mode);
            *new > gone
                && adds
                && is_step(entry, *new).is_ok()
                && entry.control().detached(gone) == entry.control().detached(*new)
                && entry.control().leads_to(gone, *new).is_some()
        }
        _ => false,
    };
    // What comes first belongs to the removal; whoever removes and adds once more does that for itself.
    let new = entry.steps_of(Kinds::WRITE).find(adds).ok_or(Reason::OutOfScope)?;
    let window = entry.locks().race_window(gone, new).ok_or(Reason::NotAfter)?;
    unless(window.transaction, Reason::InTransaction)?;
    unless(entry.locks().are_committed_together(gone, new), Reason::InTransaction)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    needs(entry.control().comes_in_one_turn(gone, new), Reason::OtherTurn)?;
    unless(is_one_statement(entry, gone, new), Reason::OneStatement)?;
    needs(is_read(view, table), Reason::NobodyReads)?;
    unless(is_made_anew_next_time(entry, gone, new), Reason::MadeAnewNextTime)?;
    Ok(new)
}

/// Whether the rows keep a fingerprint of what they are made from, and whoever does not find the present one makes them anew, as with an index of
/// files: what a crash has left missing is put there by the next call. Half of them would pass for all.
fn is_made_anew_next_time(entry: &Entry<'_>, gone: At, new: At) -> bool {
    let is_fingerprint = |name: &Name| entry.lexicon().has_word_of(Topic::Fingerprint, name);
    let keeps = entry.alias().columns(new).is_some_and(|columns| columns.iter().any(is_fingerprint));
    let at_once = entry.control().loops(new).is_empty() || !entry.locks().open(new).is_empty();
    let of_any_row = |value: &Value| {
        entry.flow().sources(*value).iter().any(|read| entry.alias().meets(*read, gone).is_some())
    };
    let of_rows = |value: &Value| {
        entry.alias().field_of(*value).is_some_and(|field| is_fingerprint(&field)) && of_any_row(value)
    };
    let compares = |check: &At| match entry.op(*check) {
        // With what the source says now, and not only whether there is one.
        Some(Op::Check { on, .. }) => on.iter().any(of_rows) && on.iter().any(|value| !of_any_row(value)),
        _ => false,
    };
    let mut judges = entry.control().early_exits(new).iter().chain(entry.control().control_dependences(new));
    keeps && at_once && judges.any(compares)
}

/// Whether a table that was emptied is filled again, row by row.
fn refills(entry: &Entry<'_>, gone: At, new: At, mode: &WriteMode) -> bool {
    let (Some(Resource::Row { table, key, .. }), Some(Resource::Row { table: same, columns, key: put })) =
        (entry.resource(gone), entry.resource(new))
    else {
        return false;
    };
    // What overwrites one column of a row that may be there is no such row.
    let adds = matches!(mode, WriteMode::Exclusive | WriteMode::Ensure)
        || *mode == WriteMode::Blind && columns.len() != 1 && **put != Term::Any;
    **key == Term::Any
        && adds
        && table.names_the_same_as(same)
        && !entry.control().loops(new).is_empty()
        && entry.control().loops(gone).is_empty()
}

/// Whether anybody looks at the rows of a table, so that one can miss them.
fn is_read(view: &View<'_>, table: &Term) -> bool {
    let reads = |entry: &Entry<'_>, at: At| matches!(entry.resource(at), Some(Resource::Row { table: seen, .. }) if seen.names_the_same_as(table));
    view.entries_with(Kinds::READ).any(|entry| entry.steps_of(Kinds::READ).any(|at| reads(entry, at)))
}

fn issue(entry: &Entry<'_>, gone: At, new: At) -> Issue {
    let table = match entry.resource(gone) {
        Some(Resource::Row { table, .. }) => entry.quoted(table),
        _ => entry.thing(gone),
    };
    let story = [gone, new];
    let (before, after) = (entry.position(gone, &story), entry.position(new, &story));
    let waits = entry.locks().race_window(gone, new).is_none_or(|window| window.suspends);
    let (reach, both) = if waits {
        (Reach::Both, ", and of two calls at once both add theirs")
    } else {
        (Reach::CrossProcess, "")
    };
    let message = format!(
        "rows of {table} are removed and put there anew, but nothing binds the two: a crash or an error in between leaves them gone{both}"
    );
    let mut issue = Issue::at(entry, gone, &[new], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, before, format!("removes the rows of {table}"))
        .step(Lane::X, after, "a crash, a timeout or an error: the new ones never come")
        .step(Lane::B, before, format!("finds {table} without them"));
    issue.keys = entry.resource(gone).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    if waits { issue } else { issue.only(Severity::Medium) }
}

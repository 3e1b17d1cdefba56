//! A missing transaction: several records change together, and a crash between two of them leaves half.
//!
//! Reported:
//! ```text
//! await db.run("UPDATE accounts SET balance = balance - ? WHERE id = ?", n, from);   // reported here
//! await db.run("UPDATE accounts SET balance = balance + ? WHERE id = ?", n, to);
//! ```
//! Not reported:
//! ```text
//! await db.transaction(async (tx) => {              // both or none
//!   await tx.run("UPDATE accounts SET balance = balance - ? WHERE id = ?", n, from);
//!   await tx.run("UPDATE accounts SET balance = balance + ? WHERE id = ?", n, to);
//! });
//! await db.run("INSERT INTO audit_log …");          // a log is no state
//! ```
//!
//! It is about failures between two writes, not about reads that are out of date. What binds two changes is in `bound.rs`, whether anybody decides on them in `readers.rs`; rows
//! that are taken away and put anew, undone effects and shared connections are beside it (`replaced.rs`, `undone.rs`, `mixed.rs`).

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{Fresh, FunctionId, Op, Resource, Term, Value, WriteMode},
};

use crate::{
    Issue, Outcome, Reason,
    decision::{needs, unless},
    fields::same_name,
    keys::key_of,
    rows::has_in_common,
    view::{At, Entry, Kinds, Overlap, Pattern, Piece, Runs, View},
};

use super::{
    HAZARD,
    bound::{Changes, are_bound_side_by_side, is_bound_to_its_own, is_taken_back},
    listed::listed,
    mixed::mixed,
    readers::Readers,
    replaced::replaced,
    step::{has_partner, is_called_a_log},
    undone::undone,
};

/// Finds `unprotected-multi-step`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let readers = Readers::of(view);
    let mut found = vec![];
    for entry in view.entries_with(Kinds::WRITE | Kinds::DELETE).filter(|entry| *entry.runs != Runs::StartUp)
    {
        let changes: Vec<At> = entry
            .steps_of(Kinds::WRITE | Kinds::DELETE)
            .filter(|at| entry.note(&HAZARD.id, &[*at], has_partner(entry, *at, &readers)).is_ok())
            .collect();
        // One change alone has no partner.
        let changes = if changes.len() > 1 { changes } else { vec![] };
        let known = Changes::of(entry, &changes);
        let mut reported: Vec<At> = vec![];
        let mut homes: Vec<(FunctionId, At, Confidence)> = vec![];
        for first in changes.iter().copied() {
            if reported.iter().any(|other| entry.alias().same_record(*other, first)) {
                entry.decide(Some(&HAZARD.id), &[first], Outcome::Silent(Reason::ReportedElsewhere));
                continue;
            }
            // What goes on in the same function with what was reported before is the same story.
            let goes_on = |other: &At| {
                entry.frame_of(*other) == entry.frame_of(first) && pair(entry, *other, first, &known).is_ok()
            };
            if reported.iter().any(goes_on) {
                reported.push(first);
                continue;
            }
            let partner = changes.iter().copied().find_map(|second| {
                let confidence =
                    entry.settle(&HAZARD.id, &[first, second], pair(entry, first, second, &known))?;
                Some((second, confidence))
            });
            if let Some((second, confidence)) = partner {
                let home = entry.home(&[first, second]);
                // Three changes in a row are one story, and so is all that one function leaves unbound in one call.
                let is_told = homes.iter().any(|(known, before, sure)| {
                    *known == home
                        && *sure >= confidence
                        && entry.control().leads_to(*before, first).is_some()
                });
                reported.extend([first, second]);
                if is_told {
                    entry.decide(
                        Some(&HAZARD.id),
                        &[first, second],
                        Outcome::Silent(Reason::ReportedElsewhere),
                    );
                } else {
                    homes.push((home, first, confidence));
                    found.push(issue(entry, first, second, confidence));
                }
            }
        }
        found.extend(listed(entry, &readers, &reported));
        found.extend(undone(entry));
        found.extend(replaced(view, entry, &reported));
    }
    let racing = view.entries_with(Kinds::OTHER).filter(|entry| entry.runs_beside_itself());
    found.extend(racing.flat_map(mixed));
    found
}

fn inserts(entry: &Entry<'_>, at: At) -> bool {
    matches!(
        entry.op(at),
        Some(Op::Write { mode: WriteMode::Exclusive | WriteMode::Append | WriteMode::Ensure, .. })
    )
}

/// Whether two changes belong together and nothing binds them: how sure. What is cheap to ask is asked first.
fn pair(entry: &Entry<'_>, first: At, second: At, changes: &Changes) -> Result<Confidence, Reason> {
    unless(first == second, Reason::OutOfScope)?;
    unless(is_detached(entry, first, second), Reason::Detached)?;
    let is_one_of_all = sets_one_of_all(entry, first, second);
    let same = entry.alias().same_record(first, second) && !moves_between_columns(entry, first, second);
    unless(same && !is_one_of_all, Reason::SameRecord)?;
    unless(finishes(entry, first, second), Reason::FinishesOwnRow)?;
    let best_effort =
        changes.may_fail_alone(entry, first, second) || changes.may_fail_alone(entry, second, first);
    unless(best_effort, Reason::BestEffort)?;
    let confidence = kinds(entry, first, second).ok_or(Reason::KindsApart)?;
    needs(is_one_of_all || belong_together(entry, first, second, &changes.subjects), Reason::Unrelated)?;
    unless(comes_and_goes(entry, first) || comes_and_goes(entry, second), Reason::ComesAndGoes)?;
    match entry.locks().race_window(first, second) {
        Some(_) if !entry.control().comes_in_one_turn(first, second) => return Err(Reason::OtherTurn),
        Some(window) => {
            unless(window.transaction, Reason::InTransaction)?;
            unless(window.is_locked(), Reason::HeldLock)?;
        }
        None => {
            let bound = are_bound_side_by_side(entry, first, second).ok_or(Reason::NotAfter)?;
            unless(bound, Reason::InTransaction)?;
        }
    }
    unless(entry.locks().are_committed_together(first, second), Reason::InTransaction)?;
    unless(is_one_statement(entry, first, second), Reason::OneStatement)?;
    unless(is_taken_back(entry, first, second), Reason::TakenBack)?;
    unless(is_removed_later(entry, first), Reason::ComesAndGoes)?;
    unless(is_bound_to_its_own(entry, first, second, changes), Reason::BoundToItsOwn)?;
    Ok(confidence)
}

/// Whether one of two changes runs detached from the call, and may fail by itself. A row that is taken away for another to be put in its place
/// is gone then all the same.
fn is_detached(entry: &Entry<'_>, first: At, second: At) -> bool {
    let replaces = || match (entry.op(first), entry.resource(first), entry.resource(second)) {
        (
            Some(Op::Delete { .. }),
            Some(Resource::Row { table, .. }),
            Some(Resource::Row { table: same, .. }),
        ) => inserts(entry, second) && table.names_the_same_as(same),
        _ => false,
    };
    match (entry.control().detached(first), entry.control().detached(second)) {
        (None, None) => false,
        (one, other) => one != other || !replaces(),
    }
}

/// Whether the same call removes what a step has put there: then nothing of it is left for the other to belong to.
fn is_removed_later(entry: &Entry<'_>, at: At) -> bool {
    let puts = matches!(entry.op(at), Some(Op::Write { .. }));
    let mut removals = entry.steps_of(Kinds::DELETE).filter(|gone| *gone > at);
    puts && removals.any(|gone| {
        entry.alias().overlap(at, gone) == Some(Overlap::Sure) && entry.control().leads_to(at, gone).is_some()
    })
}

/// Whether an amount is taken from one column of a row and given to another by statements of their own.
fn moves_between_columns(entry: &Entry<'_>, first: At, second: At) -> bool {
    let amount = |at: At| match (entry.op(at), entry.alias().columns(at)) {
        (Some(Op::Write { mode: WriteMode::Atomic, from, .. }), Some([column])) => {
            Some((from.as_slice(), column))
        }
        _ => None,
    };
    let Some(((one, from), (other, to))) = amount(first).zip(amount(second)) else { return false };
    let name = |value: &Value| entry.alias().resolve(&(*value).into());
    from != to && one.iter().any(|value| other.iter().any(|same| same == value || name(same) == name(value)))
}

/// Whether a file or a key is there only for as long as the work takes, because the same call makes and removes it: a lock file, a mark
/// that somebody is there.
fn comes_and_goes(entry: &Entry<'_>, at: At) -> bool {
    if !matches!(entry.resource(at), Some(Resource::File(_) | Resource::Key(_))) {
        return false;
    }
    let same = |other: &At| *other == at || entry.alias().same_record(at, *other);
    let mut made = entry.steps_of(Kinds::WRITE).filter(same);
    made.any(|made| {
        let in_any_case = |gone: &At| {
            entry.control().is_finally(*gone)
                || entry
                    .control()
                    .control_dependences(*gone)
                    .iter()
                    .all(|check| entry.control().control_dependences(made).contains(check))
        };
        let mut gone = entry.steps_of(Kinds::DELETE).filter(same).filter(in_any_case);
        gone.any(|gone| entry.control().leads_to(made, gone).is_some())
    })
}

/// Whether the second changes the very row that the first has made. A row that is begun and then finished says of itself how far it is.
fn finishes(entry: &Entry<'_>, first: At, second: At) -> bool {
    let (Some(Resource::Row { table, .. }), Some(Resource::Row { table: other, key, .. })) =
        (entry.resource(first), entry.resource(second))
    else {
        return false;
    };
    let Some(Op::Write { outcome, from, .. }) = entry.op(first) else { return false };
    if !table.names_the_same_as(other) || !inserts(entry, first) || inserts(entry, second) {
        return false;
    }
    let is_made =
        |made: &Value| entry.flow().values_in(key).iter().any(|value| entry.flow().depends_on(*value, *made));
    let named = entry.flow().values_in(key);
    let is_drawn = || entry.flow().is_made_of_fresh(&named, Fresh::Random) || entry.flow().is_time(&named);
    outcome.as_ref().is_some_and(is_made) || has_in_common(entry, second, first, from) && is_drawn()
}

/// Whether the first sets a column of all rows, or of all that are so, and the second sets it of one: the others are paused, and this one
/// is made the active one.
fn sets_one_of_all(entry: &Entry<'_>, first: At, second: At) -> bool {
    let (
        Some(Resource::Row { table, key: all, columns }),
        Some(Resource::Row { table: same, key: one, columns: set }),
    ) = (entry.resource(first), entry.resource(second))
    else {
        return false;
    };
    let updates = |at: At| {
        matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Blind | WriteMode::Conditional(_), .. }))
    };
    table.names_the_same_as(same)
        && **all == Term::Any
        && matches!(**one, Term::Path(_) | Term::Join(_))
        && updates(first)
        && updates(second)
        && columns.iter().any(|column| set.iter().any(|other| same_name(column, other)))
}

/// Whether two rows are of one table, or what one is changed by the other is changed by too, and that names neither of them.
fn share_amount(entry: &Entry<'_>, first: At, second: At) -> bool {
    let (Some(Resource::Row { table, key, .. }), Some(Resource::Row { table: other, key: beside, .. })) =
        (entry.resource(first), entry.resource(second))
    else {
        return false;
    };
    let name = |value: &Value| entry.alias().resolve(&(*value).into());
    let named = |term: &Term| entry.flow().values_in(term).iter().map(name).collect::<Vec<Term>>();
    let keys: Vec<Term> = [named(key), named(beside)].concat();
    let amounts = |at: At| match entry.op(at) {
        Some(Op::Write { from, .. }) => from.iter().map(name).filter(|name| !keys.contains(name)).collect(),
        _ => vec![],
    };
    let ones: Vec<Term> = amounts(first);
    table.names_the_same_as(other) || amounts(second).iter().any(|amount| ones.contains(amount))
}

/// What a row that is added can be called by from then on: what the store answers, or an id that was drawn for it.
fn names_of_new(entry: &Entry<'_>, first: At) -> Vec<Value> {
    let Some(Op::Write { outcome, .. }) = entry.op(first) else { return vec![] };
    let drawn = match entry.resource(first) {
        Some(Resource::Row { key, .. }) => entry.flow().values_in(key),
        _ => vec![],
    };
    outcome.iter().copied().chain(drawn.into_iter().filter(|value| entry.flow().is_drawn(*value))).collect()
}

/// Which kinds of changes make a pair.
fn kinds(entry: &Entry<'_>, first: At, second: At) -> Option<Confidence> {
    let (one, two) = (entry.resource(first)?, entry.resource(second)?);
    let both_new = inserts(entry, first) && inserts(entry, second);
    match (one, two) {
        (Resource::Row { .. }, Resource::Row { .. }) => {
            // What is only made sure of is found by the next call, which goes on with it: so is a parent that was there or is made.
            let ensures = matches!(entry.op(first), Some(Op::Write { mode: WriteMode::Ensure, .. }));
            if ensures && inserts(entry, second)
                || inserts(entry, first) && is_made_if_missing(entry, first, second)
            {
                return None;
            }
            let removes = |at: At| matches!(entry.op(at), Some(Op::Delete { .. }));
            if removes(first) && removes(second) {
                // Who asks once more removes the rest.
                return Some(Confidence::Low);
            }
            if !both_new {
                let counts = |at: At| matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Atomic, .. }));
                // What one takes and the other gives is a sum; of other rows it is only likely that they belong together.
                return Some(if counts(first) && counts(second) && share_amount(entry, first, second) {
                    Confidence::High
                } else {
                    Confidence::Medium
                });
            }
            // A parent and its children: half of them is wrong where the child could not be made without the parent.
            let Some(Op::Write { from, .. }) = entry.op(second) else { return None };
            let names_it = names_of_new(entry, first)
                .iter()
                .any(|name| from.iter().any(|value| entry.flow().depends_on(*value, *name)));
            names_it.then_some(Confidence::Medium)
        }
        (Resource::Key(one), Resource::Key(two)) => {
            let removes = |at: At| matches!(entry.op(at), Some(Op::Delete { .. }));
            // What is still there after a removal that stopped half way goes with the next; and two names of one form may be one key.
            if removes(first) && removes(second) || entry.text(one) == entry.text(two) {
                return None;
            }
            let counts = |at: At| {
                matches!(
                    entry.op(at),
                    Some(
                        Op::Write { mode: WriteMode::Atomic | WriteMode::Append | WriteMode::Ensure, .. }
                            | Op::Delete { .. }
                    )
                )
            };
            Some(if counts(first) && counts(second) { Confidence::High } else { Confidence::Medium })
        }
        // What follows a row into a cache is no state of its own.
        (Resource::Row { .. }, Resource::Key(_)) | (Resource::Key(_), Resource::Row { .. }) => {
            let counts = |at: At| match (entry.op(at), entry.resource(at)) {
                (Some(Op::Write { mode, .. }), Some(Resource::Key(_))) => matches!(mode, WriteMode::Atomic),
                (_, Some(Resource::Key(_))) => false,
                _ => true,
            };
            (counts(first) && counts(second)).then_some(Confidence::Medium)
        }
        // Two names that are put together alike may be one file, and a folder goes with what is in it.
        (Resource::File(one), Resource::File(two)) => {
            let (one, two) = (entry.alias().pattern(one), entry.alias().pattern(two));
            let within = |inner: &Pattern, outer: &Pattern| {
                inner.0.starts_with(&outer.0) || inner.0.ends_with(&outer.0)
            };
            let disjoint = !within(&one, &two) && !within(&two, &one);
            if disjoint && moves(entry, first, second) {
                // It is in both places then, and whoever moves it once more ends that.
                return Some(Confidence::Low);
            }
            (disjoint && (share_content(entry, first, second) || moves_part(entry, first, second)))
                .then_some(Confidence::Medium)
        }
        // A file and its row: making both leaves at worst a file too many.
        (Resource::File(_), _) | (_, Resource::File(_)) => {
            let removes = |at: At| matches!(entry.op(at), Some(Op::Delete { .. }));
            (removes(first) && removes(second)).then_some(Confidence::Medium)
        }
        _ => None,
    }
}

/// Whether the first row is only added where there is none yet, and the second goes on either way: alone it is what the next call
/// finds, and goes on with.
fn is_made_if_missing(entry: &Entry<'_>, first: At, second: At) -> bool {
    let looks_for_it = |check: At| {
        entry.flow().checked_reads(check).any(|read| {
            match (entry.op(read), entry.resource(read), entry.resource(first)) {
                (
                    Some(Op::Read { .. }),
                    Some(Resource::Row { table, .. }),
                    Some(Resource::Row { table: made, .. }),
                ) => table.names_the_same_as(made),
                _ => false,
            }
        })
    };
    entry.control().control_dependences(first).iter().any(|check| {
        entry.control().encloses(*check, first)
            && !entry.control().encloses(*check, second)
            && entry.control().answer(*check, second).is_none()
            && looks_for_it(*check)
    })
}

/// Whether both come from one statement, or one is a part of what the other does: a batch, a temporary file. A helper that is called
/// twice makes two of one that is written once.
pub(super) fn is_one_statement(entry: &Entry<'_>, first: At, second: At) -> bool {
    let (one, two) = (entry.span(first), entry.span(second));
    let same_place =
        one.file == two.file && one.start == two.start && one.end == two.end && one.end > one.start;
    let renamed = |at: At| {
        entry.steps_of(Kinds::RENAME).any(|rename| match entry.op(rename) {
            Some(Op::Rename { from, .. }) => {
                Some(&entry.alias().resolve_resource(from)) == entry.resource(at)
            }
            _ => false,
        })
    };
    let temporary = |at: At| {
        matches!(entry.resource(at), Some(Resource::File(path)) if {
            entry.alias().pattern(path).0.iter().any(|piece| matches!(piece, Piece::Fresh(_) | Piece::TempDir))
        })
    };
    // What is taken in one call of a helper and given in another belongs together. A helper that sets whatever it is told to does not
    // say so, and whoever binds what it does has bound all that does.
    let moves = |at: At| {
        matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Atomic, to: Resource::Row { .. }, .. }))
            && entry.alias().columns(at).is_some_and(|columns| columns.len() <= 2)
            && entry.locks().open(at).is_empty()
            && entry.locks().held(at).is_empty()
    };
    let one_call = || entry.position(first, &[second]) == entry.position(second, &[first]);
    (same_place && (!moves(first) || !moves(second) || one_call()))
        || renamed(first)
        || renamed(second)
        || temporary(first)
        || temporary(second)
}

/// Whether two changes are about the same thing: an amount that one takes and the other gives, an order and its goods.
fn belong_together(
    entry: &Entry<'_>,
    first: At,
    second: At,
    subjects: &BTreeMap<At, BTreeSet<Term>>,
) -> bool {
    let shared = |one: &BTreeSet<Term>, two: &BTreeSet<Term>| one.iter().any(|subject| two.contains(subject));
    if subjects.get(&first).zip(subjects.get(&second)).is_some_and(|(one, two)| shared(one, two)) {
        return true;
    }
    // What is taken from one key, if it was there, goes to the next.
    let keys = |at: At| matches!(entry.resource(at), Some(Resource::Key(_)));
    if keys(first)
        && keys(second)
        && entry.flow().controlling_reads(second).any(|(_, source)| source == first)
    {
        return true;
    }
    // What the second changes was found through what the first did.
    let (Some(Op::Write { outcome: Some(made), .. } | Op::Delete { outcome: Some(made), .. }), Some(op)) =
        (entry.op(first), entry.op(second))
    else {
        return moves(entry, first, second) || moves_part(entry, first, second);
    };
    let values: Vec<Value> = match op {
        Op::Write { from, .. } => from.clone(),
        _ => vec![],
    };
    let key = match entry.resource(second) {
        Some(Resource::Row { key, .. }) => entry.flow().values_in(key),
        Some(Resource::Key(key) | Resource::File(key)) => entry.flow().values_in(key),
        _ => vec![],
    };
    values.iter().chain(&key).any(|value| entry.flow().depends_on(*value, *made))
        || moves(entry, first, second)
        || moves_part(entry, first, second)
}

/// Whether both write what was made from the same thing: two files in one folder have only the folder in common.
fn share_content(entry: &Entry<'_>, first: At, second: At) -> bool {
    let content = |at: At| match entry.op(at) {
        Some(Op::Write { from, .. }) => entry.flow().things(from),
        _ => BTreeSet::new(),
    };
    let (one, two) = (content(first), content(second));
    one.iter().any(|thing| two.contains(thing))
}

/// Whether a part of one file goes into another: both are made of what stood in one of them, and each is written back with its own part.
/// What is only made of a file, such as a list of what is in it, is made anew with the next change.
fn moves_part(entry: &Entry<'_>, first: At, second: At) -> bool {
    let replaces = |at: At| matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Blind, .. }));
    if !replaces(first)
        || !replaces(second)
        || is_called_a_log(entry, first)
        || is_called_a_log(entry, second)
    {
        return false;
    }
    let (one, two) = (entry.flow().data_dependences(first), entry.flow().data_dependences(second));
    let of = |read: &At, at: At| entry.alias().overlap(*read, at) == Some(Overlap::Sure);
    let is_taken = |from: At| one.iter().any(|read| two.contains(read) && of(read, from));
    one.iter().any(|read| of(read, first))
        && two.iter().any(|read| of(read, second))
        && (is_taken(first) || is_taken(second))
}

/// Whether the first puts elsewhere what the second takes away.
fn moves(entry: &Entry<'_>, first: At, second: At) -> bool {
    matches!(entry.op(second), Some(Op::Delete { .. }))
        && entry
            .flow()
            .data_dependences(first)
            .iter()
            .any(|source| entry.alias().overlap(*source, second).is_some())
}

fn issue(entry: &Entry<'_>, first: At, second: At, confidence: Confidence) -> Issue {
    let story = [first, second];
    let (one, two) = (in_words(entry, first), in_words(entry, second));
    let (before, after) = (entry.position(first, &story), entry.position(second, &story));
    // Two statements on one table may be about one row or two: the table is what both have in common.
    let together = match entry.resource(first) {
        Some(Resource::Row { table, .. }) if one == two => {
            format!("two changes of {} belong together", entry.quoted(table))
        }
        _ if one == two => format!("two changes of {one} belong together"),
        _ => format!("{one} and {two} change together"),
    };
    let message = format!(
        "{together}, but nothing binds them: a crash or an error in between leaves the first without the second"
    );
    // Nobody of the same process comes between two steps that do not wait.
    let waits = entry.locks().race_window(first, second).is_none_or(|window| window.suspends);
    let reach = if waits { Reach::Both } else { Reach::CrossProcess };
    let mut issue = Issue::at(entry, first, &[second], reach, message)
        .no_surer_than(confidence)
        .step(Lane::A, before, format!("changes {one}"))
        .step(Lane::X, after, "a crash, a timeout or an error: the second change never comes")
        .step(
            Lane::B,
            before,
            if one == two {
                format!("comes with {one} changed once of twice")
            } else {
                format!("comes with {one} changed and {two} as it was")
            },
        );
    issue.keys = [first, second]
        .iter()
        .filter_map(|at| entry.resource(*at))
        .filter_map(|resource| key_of(entry, resource))
        .collect();
    issue.keys.dedup();
    if waits { issue } else { issue.only(Severity::Medium) }
}

fn in_words(entry: &Entry<'_>, at: At) -> String {
    match entry.resource(at) {
        Some(Resource::Row { key, table, .. })
            if matches!(**key, Term::Path(_)) && !entry.has_no_name(key) =>
        {
            format!("the row {} of {}", entry.quoted(key), entry.quoted(table))
        }
        _ => entry.thing(at),
    }
}

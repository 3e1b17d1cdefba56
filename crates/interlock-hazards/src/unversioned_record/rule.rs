//! A blind overwrite with what a caller sends, of a record that shows nothing to detect a conflict by.
//!
//! Reported:
//! ```text
//! await db.run("UPDATE notes SET text = ? WHERE id = ?", args.text, args.id);   // reported here, once per table
//! ```
//! Not reported:
//! ```text
//! await db.run("UPDATE notes SET text = ?, version = version + 1 WHERE id = ? AND version = ?", …);
//! await db.run("UPDATE notes SET text = ?, updated_at = ? WHERE id = ?", …);    // a caller can see the change
//! ```
//!
//! It is about two calls far apart, with a person between them. What a single call reads and writes back is `lost-update`.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Condition, Name, Op, Origin, Resource, Table, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::check_act_pairs,
    decision::{needs, unless},
    fields::{is_in_cache, is_version},
    keys::key_of,
    lexicon::Topic,
    rows::adds_row,
    view::{At, Entry, Kinds, Runs, View},
    words,
};

use super::HAZARD;

/// Finds `unversioned-record`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let known = columns(view);
    let versioned = |table: &str| {
        known
            .get(table)
            .is_some_and(|columns| columns.iter().any(|column| is_version(view.lexicon(), column)))
    };
    // Where a write is part of a race window inside the handler, that gap is what there is to say of it.
    let reported: BTreeSet<(*const Entry<'_>, At)> =
        check_act_pairs(view).iter().map(|pair| (std::ptr::from_ref(pair.entry).cast(), pair.act)).collect();
    let mut found: BTreeMap<String, Issue> = BTreeMap::new();
    for entry in view
        .entries_with(Kinds::WRITE)
        .filter(|entry| matches!(entry.runs, Runs::Call(_) | Runs::Part(_) | Runs::Unreached))
    {
        for at in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Blind, .. })) {
            let Some(table) = table_of(entry, at) else { continue };
            let judge = || {
                unless(versioned(&table), Reason::Versioned)?;
                let is_part = reported.contains(&(std::ptr::from_ref(entry).cast(), at));
                unless(is_part, Reason::PartOfPair)?;
                overwrites(entry, at)?;
                unless(follows_another(entry, at), Reason::KeepsCache)?;
                unless(is_in_cache(entry, at), Reason::KeepsCache)
            };
            if entry.settle(&HAZARD.id, &[at], judge()).is_none() {
                continue;
            }
            let issue = issue(entry, at, &table);
            let first = |known: &Issue| {
                (issue.confidence, std::cmp::Reverse(issue.span))
                    > (known.confidence, std::cmp::Reverse(known.span))
            };
            if found.get(&table).is_none_or(first) {
                found.insert(table, issue);
            }
        }
    }
    found.into_values().collect()
}

/// What the program shows of each table: declarations, statements, filters.
fn columns(view: &View<'_>) -> BTreeMap<String, BTreeSet<Name>> {
    let mut known: BTreeMap<String, BTreeSet<Name>> = BTreeMap::new();
    for table in &view.program.tables {
        known.entry(Table::plain(&table.name)).or_default().extend(table.columns.iter().cloned());
    }
    for entry in view.entries_with(Kinds::TOUCHES) {
        for at in entry.steps_of(Kinds::TOUCHES) {
            let Some(table) = table_of(entry, at) else { continue };
            let columns = known.entry(table).or_default();
            columns.extend(entry.alias().columns(at).into_iter().flatten().cloned());
            let condition = match entry.op(at) {
                Some(Op::Write { mode: WriteMode::Conditional(condition), .. }) => Some(condition),
                Some(Op::Delete { when, .. }) => when.as_ref(),
                _ => None,
            };
            if let Some(Condition(demands)) = condition {
                columns.extend(demands.iter().map(|demand| demand.column.clone()));
            }
        }
    }
    known
}

/// Whether a row says what another one of the same name in another table was given just before, as an index does: the first is the record.
fn follows_another(entry: &Entry<'_>, at: At) -> bool {
    let name = |step: At| match entry.resource(step) {
        Some(Resource::Row { key, .. }) => Some(entry.alias().resolve(key)),
        _ => None,
    };
    let given = |step: At| match entry.op(step) {
        Some(Op::Write { mode: WriteMode::Blind | WriteMode::Conditional(_), from, .. }) => from.as_slice(),
        _ => &[],
    };
    let (Some(own), Some(table)) = (name(at), table_of(entry, at)) else { return false };
    let sent = |value: &Value| entry.alias().resolve(&(*value).into());
    let mut said = entry.flow().backward_slice(given(at));
    said.extend(given(at));
    let said: Vec<Term> = said.iter().map(sent).filter(|said| *said != own).collect();
    entry.steps_of(Kinds::WRITE).any(|first| {
        first < at
            && table_of(entry, first).is_some_and(|first| first != table)
            && name(first).is_some_and(|name| name.names_the_same_as(&own))
            && given(first).iter().any(|value| said.contains(&sent(value)))
            && entry.control().leads_to(first, at).is_some()
    })
}

fn table_of(entry: &Entry<'_>, at: At) -> Option<String> {
    match entry.resource(at) {
        Some(Resource::Row { table, .. }) => match &**table {
            Term::Literal(name) => Some(Table::plain(name)),
            Term::Path(_) => Some(entry.text(table)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a write puts what the caller sent in the place of what one row held, with nothing to keep others out.
fn overwrites(entry: &Entry<'_>, at: At) -> Result<(), Reason> {
    let (Some(Op::Write { from, .. }), Some(Resource::Row { key, .. })) = (entry.op(at), entry.resource(at))
    else {
        return Err(Reason::OutOfScope);
    };
    unless(matches!(**key, Term::Any), Reason::OutOfScope)?;
    unless(adds_row(entry, at) || entry.alias().is_another_each_time(key), Reason::OnlyAdds)?;
    needs(entry.locks().mutexes(at).is_empty(), Reason::HeldLock)?;
    unless(entry.control().is_recovery(at), Reason::OnlyInRecovery)?;
    // A row that this transaction has looked at first is not overwritten unseen.
    let seen = entry.steps_of(Kinds::READ).any(|read| {
        entry.alias().same_record(read, at)
            && entry.locks().race_window(read, at).is_some_and(|window| window.transaction)
    });
    unless(seen, Reason::InTransaction)?;
    let of_key = entry.flow().values_in(key);
    // What names another thing is no text that somebody has worked on.
    let columns = entry.alias().columns(at).filter(|columns| columns.len() == from.len());
    let names = |value: &Value| {
        let place = from.iter().position(|written| written == value);
        let column = place.and_then(|place| columns.and_then(|columns| columns.get(place)));
        column.is_some_and(|column| names_a_thing(entry, column))
    };
    let sent = |value: &Value| {
        let is_key = of_key
            .iter()
            .any(|key| entry.alias().resolve(&(*key).into()) == entry.alias().resolve(&(*value).into()));
        !is_key && !names(value) && comes_from_the_caller(entry, *value)
    };
    // What is computed from the same table is a lost update instead.
    let own =
        |source: &At| entry.resource(*source).is_some() && table_of(entry, *source) == table_of(entry, at);
    needs(from.iter().any(sent), Reason::NotFromCaller)?;
    unless(entry.flow().data_dependences(at).iter().any(own), Reason::ComputedFromTable)
}

/// Whether a column has the name of a thing in it: `workspace_id`, `file_path`.
fn names_a_thing(entry: &Entry<'_>, column: &str) -> bool {
    words(column).last().is_some_and(|last| entry.lexicon().has(Topic::NamesThing, last))
}

fn comes_from_the_caller(entry: &Entry<'_>, value: Value) -> bool {
    if entry.flow().origin(value).is_some_and(Origin::is_argument) {
        return true;
    }
    let things = entry.flow().things(&[value]);
    things
        .iter()
        .flat_map(|thing| entry.flow().values_in(thing))
        .any(|value| entry.flow().origin(value).is_some_and(Origin::is_argument))
}

fn issue(entry: &Entry<'_>, at: At, table: &str) -> Issue {
    let thing = entry.thing(at);
    let message = format!(
        "a caller's text replaces {thing}, and nothing in `{table}` can tell that somebody else has changed it since that caller read it"
    );
    let span = entry.position(at, &[]);
    let mut issue = Issue::at(entry, at, &[], Reach::Both, message)
        .step(Lane::A, span, format!("has read {thing} in an earlier call"))
        .step(Lane::B, span, format!("writes {thing}"))
        .step(
            Lane::A,
            span,
            format!("writes {thing} from what it had read: B's work is gone, and nobody can see it"),
        );
    issue.keys = entry.resource(at).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    // Whether somebody had read it before, and has worked on what was there then, is not seen here.
    issue.no_surer_than(Confidence::Medium)
}

//! A race for the next number: a row is added under the number after the last one there is.
//!
//! Reported:
//! ```text
//! const { last } = await db.get("SELECT MAX(position) AS last FROM cards WHERE list = ?", list);  // reported here
//! await db.run("INSERT INTO cards (list, position) VALUES (?, ?)", list, last + 1);
//! ```
//! Not reported:
//! ```text
//! for (;;) {                                        // tried again where a unique key refuses the number
//!   const { last } = await db.get("SELECT MAX(position) AS last FROM cards");
//!   try { await db.run("INSERT INTO cards (position) VALUES (?)", last + 1); break; } catch {}
//! }
//! ```
//!
//! Numbers that a store counts itself (a sequence, an identity column) never come through here.

use interlock_model::{
    Confidence, Severity,
    ir::{Aspect, Name, Op, Resource, Root, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    fields::{is_presence, names_a_number, same_name},
    rows::{adds_number, is_added_behind_one, is_of_list, moves_behind},
    view::{At, Entry, View},
};

/// How many parts a number is followed back through.
const MOST_PARTS: usize = 16;

/// Whether a row is added or moved under a number that comes after the last one there is, after how many there are, or after that of a row
/// which was looked up.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let adds = matches!(entry.op(pair.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }))
        || moves_behind(entry, pair.read, pair.act);
    let Some(Op::Read {
        of: Resource::Row { .. },
        aspect: aspect @ (Aspect::Total | Aspect::Content),
        into,
        ..
    }) = entry.op(pair.read)
    else {
        return Err(Reason::OutOfScope);
    };
    let Some(Op::Write { from, .. }) = entry.op(pair.act).filter(|_| adds && pair.data_dependent) else {
        return Err(Reason::OutOfScope);
    };
    let takes = match aspect {
        Aspect::Total => from.iter().any(|value| is_number(entry, *value, pair.read, *into)),
        _ if is_added_behind_one(entry, pair.read, pair.act) => true,
        _ => adds_number(entry, pair.act) && from.iter().any(|value| is_of_list(entry, *value, pair.read)),
    };
    needs(takes, Reason::OutOfScope)?;
    // Where it is tried again, a unique key is what decides.
    let tried_again =
        entry.control().loops(pair.act).iter().any(|head| entry.control().loops(pair.read).contains(head));
    unless(tried_again, Reason::TriedAgain)
}

/// Whether a value is computed from what a read came to as a whole, or from a part of it that is called like a number.
pub(super) fn is_number(entry: &Entry<'_>, value: Value, read: At, seen: Value) -> bool {
    let mut parts = vec![value];
    let mut next = 0;
    while let Some(part) = parts.get(next).copied() {
        next += 1;
        if !entry.flow().sources(part).contains(&read) {
            continue;
        }
        let of_look = || is_of(entry, &entry.alias().resolve_path(&part.into()).root, seen);
        match entry.alias().field_of(part) {
            Some(_) if !of_look() => {}
            Some(field) if names_a_number(entry.lexicon(), &field) || is_computed(entry, read, &field) => {
                return true;
            }
            Some(_) => {}
            None if part == seen => return true,
            None => parts
                .extend(entry.flow().inputs(part).iter().filter(|input| **input != part).take(MOST_PARTS)),
        }
        if next > MOST_PARTS {
            break;
        }
    }
    false
}

/// Whether something is what a read came to, or all of it in another form: `cursor.toArray()`.
fn is_of(entry: &Entry<'_>, root: &Root, seen: Value) -> bool {
    let mut root = match root {
        Root::Value(value) => *value,
        _ => return false,
    };
    for _ in 0..4 {
        match entry.flow().inputs(root) {
            _ if root == seen => return true,
            [only] => root = *only,
            _ => return false,
        }
    }
    false
}

/// Whether what a statement gives is no column that it looked at, but something that was made of one: `MAX(position) AS p`.
fn is_computed(entry: &Entry<'_>, read: At, field: &Name) -> bool {
    let columns = entry.alias().columns(read).unwrap_or_default();
    !columns.is_empty()
        && !is_presence(entry.lexicon(), field)
        && !columns.iter().any(|column| same_name(column, field))
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let (entry, thing) = (pair.entry, pair.entry.thing(pair.read));
    if moves_behind(entry, pair.read, pair.act) {
        let message = format!(
            "the last number is taken from {thing} and a row is given the next one by a statement of its own, so two calls at once give \
             two rows the same number"
        );
        return told(pair, message, &format!("asks {thing} for the last number"), "gives a row the next");
    }
    if is_added_behind_one(entry, pair.read, pair.act) {
        let message = format!(
            "the number of one row is taken from {thing} and a row with the next one is added by a statement of its own, so two calls at once \
             add two rows with the same number"
        );
        return told(
            pair,
            message,
            &format!("reads the number of a row from {thing}"),
            "adds a row with the next",
        );
    }
    let message = format!(
        "the last number is taken from {thing} and a row with the next one is added by a statement of its own, so two calls at once add \
         two rows with the same number"
    );
    told(pair, message, &format!("asks {thing} for the last number"), "adds a row with the next")
}

fn told(pair: &CheckAct<'_, '_>, message: String, read: &str, act: &str) -> Issue {
    let issue = pair.report(message, read, act, "both have the same number");
    issue.no_surer_than(Confidence::Medium).only(Severity::Medium)
}

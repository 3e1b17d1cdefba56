//! Inserts, and rows that only this call knows.

use interlock_model::ir::{
    AccessPath, Aspect, Field, Fresh, Name, Op, Resource, Root, Term, Value, WriteMode,
};

use crate::{
    fields::{asks_presence, names_a_number, same_name},
    view::{At, Entry, Kinds},
};

/// Whether this call has added the row itself right before it looks at it, under an id that it drew for it: nobody else knows that id yet,
/// unless somebody was told or given time.
pub(crate) fn is_of_own_making(entry: &Entry<'_>, read: At, act: At) -> bool {
    let Some(Resource::Row { table, key, .. }) = entry.resource(act) else { return false };
    let adds = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Exclusive, .. });
    let is_it = |made: At| match entry.resource(made) {
        Some(Resource::Row { table: same, key: drawn, .. }) => {
            table.names_the_same_as(same) && key.names_the_same_as(drawn)
        }
        _ => false,
    };
    let is_known = |made: At| {
        (made..act)
            .any(|at| matches!(entry.op(at), Some(Op::External { .. } | Op::Sleep { .. } | Op::Spawn { .. })))
    };
    entry.all(Kinds::WRITE, adds).any(|made| made < read && made != act && is_it(made) && !is_known(made))
        && entry
            .flow()
            .backward_slice(&entry.flow().values_in(key))
            .iter()
            .any(|value| entry.flow().is_drawn(*value))
}

/// Whether rows that a read saw together are changed one by one, and what is changed was neither judged nor computed from what stood in
/// the same column: a list of what is left to do, which comes to the same when two go through it.
pub(crate) fn is_worked_off(entry: &Entry<'_>, read: At, act: At, judged: &[(At, At)]) -> bool {
    if removes_found(entry, read, act) {
        return true;
    }
    if !entry.alias().is_one_of_many(read, act) {
        return false;
    }
    // What two remove one by one is gone in the end.
    if matches!(entry.op(act), Some(Op::Delete { .. })) {
        return true;
    }
    let Some(Op::Read { into, .. }) = entry.op(read) else { return false };
    let is_seen = |value: &Value| match entry.alias().resolve_path(&(*value).into()).root {
        Root::Value(root) => root == *into || entry.flow().inputs(root).contains(into),
        _ => false,
    };
    // Who names no column writes all of them.
    let columns = entry.alias().columns(act);
    let from_column = |value: &Value| {
        let is_column = |columns: &[Name]| {
            let field = entry.alias().field_of(*value);
            field.is_some_and(|field| columns.iter().any(|column| same_name(column, &field)))
        };
        is_seen(value) && columns.is_none_or(is_column)
    };
    let asks = |(check, from): &(At, At)| {
        *from == read && matches!(entry.op(*check), Some(Op::Check { on, .. }) if on.iter().any(from_column))
    };
    let data_dependent = || matches!(entry.op(act), Some(Op::Write { from, .. }) if entry.flow().backward_slice(from).iter().any(from_column));
    !judged.iter().any(asks) && !data_dependent()
}

/// Whether all rows that a read has found are removed together, by a list of their ids.
fn removes_found(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(Resource::Row { key: found, .. }), Some(Resource::Row { key, .. }), Some(Op::Delete { .. })) =
        (entry.resource(read), entry.resource(act), entry.op(act))
    else {
        return false;
    };
    let is_list = matches!(&**key, Term::Path(path) if path.fields.is_empty());
    let of_read = |value: &Value| entry.flow().sources(*value).contains(&read);
    matches!(**found, Term::Any | Term::Unknown) && is_list && entry.flow().values_in(key).iter().any(of_read)
}

/// Whether a row is added to those of which a read has seen how many they are, or the greatest: `MAX(position) WHERE list = $1`, and a
/// card of that list. What the filter names is no row then, but what the rows have in common.
pub(crate) fn adds_to(entry: &Entry<'_>, read: At, act: At) -> bool {
    if moves_behind(entry, read, act) || is_added_behind_one(entry, read, act) {
        return true;
    }
    let (Some(Op::Read { aspect: Aspect::Total | Aspect::Content, .. }), Some(Op::Write { from, .. })) =
        (entry.op(read), entry.op(act).filter(|_| adds_row(entry, act)))
    else {
        return false;
    };
    let counts = matches!(entry.op(read), Some(Op::Read { aspect: Aspect::Total, .. }))
        || adds_number(entry, act) && from.iter().any(|value| is_of_list(entry, *value, read));
    counts && has_in_common(entry, read, act, from)
}

/// Whether a row that is there is given a number that comes of what a read has made of all of them: `MAX(position) WHERE list = $1`, and the
/// position of a card by its id.
pub(crate) fn moves_behind(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (
        Some(Op::Read { aspect: Aspect::Total, .. }),
        Some(Op::Write { mode: WriteMode::Blind, .. }),
        Some(Resource::Row { table, columns: seen, .. }),
        Some(Resource::Row { table: same, key, columns: set }),
    ) = (entry.op(read), entry.op(act), entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let is_taken = |column: &Name| {
        names_a_number(entry.lexicon(), column) && seen.iter().any(|number| same_name(number, column))
    };
    table.names_the_same_as(same)
        && !matches!(**key, Term::Any | Term::Unknown)
        && set.iter().any(is_taken)
        && entry.flow().data_dependences(act).contains(&read)
}

/// Whether a row is added under a number that is counted on from the number of one that was looked up: a card behind another card.
pub(crate) fn is_added_behind_one(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (
        Some(Op::Read { aspect: Aspect::Content, .. }),
        Some(Op::Write { mode: WriteMode::Exclusive, from, .. }),
        Some(Resource::Row { table, key, .. }),
        Some(Resource::Row { table: same, columns, .. }),
    ) = (entry.op(read), entry.op(act), entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let numbers = |field: &Name| {
        names_a_number(entry.lexicon(), field) && columns.iter().any(|column| same_name(column, field))
    };
    let is_its_number = |value: &Value| {
        entry.alias().field_of(*value).is_some_and(|field| numbers(&field))
            && entry.flow().sources(*value) == [read]
    };
    // What is put there as it was read is a copy.
    let is_counted_on = |value: &Value| {
        entry.alias().field_of(*value).is_none() && entry.flow().inputs(*value).iter().any(is_its_number)
    };
    table.names_the_same_as(same)
        && !matches!(**key, Term::Any | Term::Unknown)
        && from.iter().any(is_counted_on)
}

/// Whether a row is added that has a column like a place in an order.
pub(crate) fn adds_number(entry: &Entry<'_>, act: At) -> bool {
    entry
        .alias()
        .columns(act)
        .unwrap_or_default()
        .iter()
        .any(|column| names_a_number(entry.lexicon(), column))
}

/// Whether a value is computed from a list that was read as a whole, such as from how long it is, and is no part of any entry.
pub(crate) fn is_of_list(entry: &Entry<'_>, value: Value, read: At) -> bool {
    let Some(Op::Read { into, .. }) = entry.op(read) else { return false };
    let is_list = |value: Value| match entry.alias().resolve(&value.into()) {
        Term::Path(AccessPath { root: Root::Value(root), fields }) => {
            root == *into
                && fields
                    .iter()
                    .all(|field| matches!(field, Field::Name(_)) && entry.alias().is_wrapping(field))
        }
        _ => false,
    };
    let is_bare = matches!(entry.alias().resolve(&value.into()), Term::Path(path) if path.fields.is_empty());
    is_bare && !is_list(value) && entry.flow().inputs(value).iter().any(|input| is_list(*input))
}

/// Whether a step adds something that was not there: it fails where it is, or it overwrites or leaves alone what nobody has, because the id
/// was drawn for it.
pub(crate) fn adds_row(entry: &Entry<'_>, act: At) -> bool {
    match (entry.op(act), entry.resource(act)) {
        (Some(Op::Write { mode: WriteMode::Exclusive, .. }), _) => true,
        (
            Some(Op::Write { mode: WriteMode::Blind | WriteMode::Ensure, .. }),
            Some(Resource::Row { key, .. }),
        ) => match entry.alias().resolve(key) {
            Term::Fresh(fresh) => fresh == Fresh::Random,
            key => entry.flow().values_in(&key).iter().any(|value| entry.flow().is_drawn(*value)),
        },
        _ => false,
    }
}

/// Whether a row is added because none was found that has in common with it what the read went by, whatever else names the new one:
/// `WHERE room = $1`, and a booking of that room with a guest of its own.
pub(crate) fn adds_missing(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (
        Some(Op::Read { aspect: Aspect::Content | Aspect::Existence, into, .. }),
        Some(Op::Write { from, .. }),
    ) = (
        entry.op(read),
        entry.op(act).filter(|_| adds_row(entry, act) || is_ensured_by_another_key(entry, read, act)),
    )
    else {
        return false;
    };
    let finds_none = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, equal: None, .. }) => match on.as_slice() {
            [only] => {
                // A helper may have put what it found into a form of its own.
                let is_found = entry.alias().resolve_path(&(*only).into()).root == Root::Value(*into)
                    || entry.flow().sources(*only) == [read];
                entry.control().answer(*check, act) == Some(false)
                    && is_found
                    && entry
                        .alias()
                        .field_of(*only)
                        .is_none_or(|field| asks_presence(entry, *only, &field, act))
            }
            _ => false,
        },
        _ => false,
    };
    has_in_common(entry, read, act, from) && entry.control().control_dependences(act).iter().any(finds_none)
}

/// Whether an insert only leaves alone what has another key than what a read has gone by: `WHERE email = $1`, then `INSERT … ON CONFLICT (id) DO
/// NOTHING`. What the two have in common is no part of that key, so it keeps nobody out.
pub(crate) fn is_ensured_by_another_key(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (
        Some(Op::Write { mode: WriteMode::Ensure, from, to: Resource::Row { .. }, .. }),
        Some(Resource::Row { key: ensured, .. }),
        Some(Resource::Row { key: asked, .. }),
    ) = (entry.op(act), entry.resource(act), entry.resource(read))
    else {
        return false;
    };
    let parts = |key: &Term| -> Vec<Term> {
        let parts = match key {
            Term::Join(parts) => {
                parts.iter().filter(|part| !matches!(part, Term::Literal(_))).cloned().collect()
            }
            Term::Path(_) => vec![key.clone()],
            _ => vec![],
        };
        parts.iter().map(|part| entry.alias().resolve(part)).collect()
    };
    let (ensured, asked) = (parts(ensured), parts(asked));
    let is_apart = asked.iter().all(|part| !ensured.contains(part));
    !ensured.is_empty() && is_apart && has_in_common(entry, read, act, from)
}

/// Whether a row is put where a read was, and is given all that the read has named its rows by.
pub(crate) fn has_in_common(entry: &Entry<'_>, read: At, act: At, from: &[Value]) -> bool {
    let (Some(Resource::Row { table, key, .. }), Some(Resource::Row { table: into, .. })) =
        (entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let shared = match &**key {
        Term::Join(parts) => parts.iter().filter(|part| !matches!(part, Term::Literal(_))).collect(),
        Term::Path(_) => vec![&**key],
        _ => vec![],
    };
    let given = |name: &&Term| from.iter().any(|value| entry.alias().resolve(&(*value).into()) == **name);
    table.names_the_same_as(into) && !shared.is_empty() && shared.iter().all(given)
}

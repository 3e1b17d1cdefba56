//! What fields and columns are called, and what that says of them.

use interlock_model::ir::{Resource, Value};

use crate::{
    lexicon::{Lexicon, Topic},
    rows::adds_row,
    view::{At, Entry},
    words,
};

/// A field that only says whether there is something.
pub(crate) fn is_presence(lexicon: &Lexicon, field: &str) -> bool {
    lexicon.has(Topic::Presence, field)
}

/// The same of a field of which somebody asks before an act: how many ids or points there are says whether a search has found any.
/// Points that are a number are a column, and mostly one that the act changes.
pub(crate) fn asks_presence(entry: &Entry<'_>, value: Value, field: &str, act: At) -> bool {
    let is_column = || match entry.alias().columns(act) {
        Some(columns) => columns.iter().any(|column| same_name(column, field)),
        None => !adds_row(entry, act),
    };
    let is_list = || entry.name_of(value) == "length" || !is_column();
    let lexicon = entry.lexicon();
    is_presence(lexicon, field) || (lexicon.has(Topic::FoundList, field) && is_list())
}

/// Whether a field is no column but what a helper adds to what it got: `{ success: true, data: rows }`. What a library says of it,
/// such as a schema, is a judgement.
pub(crate) fn says_it_went_well(entry: &Entry<'_>, value: Value, field: &str) -> bool {
    entry.lexicon().has(Topic::WentWell, field) && !entry.flow().is_of_library(value)
}

/// A column that tells one state of a record from the next.
pub(crate) fn is_version(lexicon: &Lexicon, column: &str) -> bool {
    let plain = plain(column);
    lexicon.has(Topic::Version, &plain)
        || lexicon.list(Topic::VersionEnding).iter().any(|ending| plain.ends_with(&**ending))
}

/// A column that says when something was last used, or how often.
pub(crate) fn notes_use(lexicon: &Lexicon, column: &str) -> bool {
    lexicon.has_inside(Topic::UsedAt, &plain(column))
}

/// Whether a step is about a row or key that is kept only not to be asked for again: what is gone or old there is worked out once more.
pub(crate) fn is_in_cache(entry: &Entry<'_>, at: At) -> bool {
    let name = match entry.resource(at) {
        Some(Resource::Row { table, .. }) => entry.text(table),
        Some(Resource::Key(key)) => entry.text(key),
        _ => return false,
    };
    entry.lexicon().has_word_of(Topic::Cache, &name)
}

/// A column that says when something was last changed.
pub(crate) fn notes_change(lexicon: &Lexicon, column: &str) -> bool {
    lexicon.has(Topic::ChangedAt, &plain(column))
}

/// Whether a column is called like a place in an order, or a result like a count.
pub(crate) fn names_a_number(lexicon: &Lexicon, field: &str) -> bool {
    let words = words(field);
    words.last().is_some_and(|last| last != "id") && words.iter().any(|word| lexicon.has(Topic::Number, word))
}

/// `ownerId` and `owner_id` are one name.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    let last = |name: &str| plain(name.rsplit('.').next().unwrap_or_default());
    last(one) == last(other)
}

/// A name without capitals and signs.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

//! What fields and columns are called, and what that says of them.

use interlock_model::ir::{Resource, Value};

use crate::{
    rows::adds_row,
    view::{At, Entry},
    words,
};

/// A field that only says whether there is something.
pub(crate) fn is_presence(field: &str) -> bool {
    matches!(
        field,
        "length"
            | "rowCount"
            | "rows"
            | "size"
            | "count"
            | "affectedRows"
            | "changes"
            | "data"
            | "error"
            | "exists"
    )
}

/// The same of a field of which somebody asks before an act: how many ids or points there are says whether a search has found any.
/// Points that are a number are a column, and mostly one that the act changes.
pub(crate) fn asks_presence(entry: &Entry<'_>, value: Value, field: &str, act: At) -> bool {
    let is_column = || match entry.columns(act) {
        Some(columns) => columns.iter().any(|column| same_name(column, field)),
        None => !adds_row(entry, act),
    };
    let is_list = || entry.name_of(value) == "length" || !is_column();
    is_presence(field) || (matches!(field, "ids" | "points") && is_list())
}

/// Whether a field is no column but what a helper adds to what it got: `{ success: true, data: rows }`. What a library says of it,
/// such as a schema, is a judgement.
pub(crate) fn says_it_went_well(entry: &Entry<'_>, value: Value, field: &str) -> bool {
    matches!(field, "success" | "succeeded" | "ok") && !entry.is_of_library(value)
}

/// A column that tells one state of a record from the next.
pub(crate) fn is_version(column: &str) -> bool {
    let plain: String = column.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    plain.ends_with("version")
        || matches!(
            plain.as_str(),
            "v" | "rev"
                | "revision"
                | "etag"
                | "generation"
                | "seq"
                | "updatedat"
                | "modifiedat"
                | "updated"
                | "mtime"
        )
        || plain.ends_with("updatedat")
}

/// A column that says when something was last used, or how often.
pub(crate) fn notes_use(column: &str) -> bool {
    const USE: [&str; 10] = [
        "lastused",
        "lastaccess",
        "lastseen",
        "lastactive",
        "lastactivity",
        "lastlogin",
        "usagecount",
        "usecount",
        "accesscount",
        "hitcount",
    ];
    let plain: String = column.chars().filter(|c| c.is_alphanumeric()).collect();
    mentions(&plain, &USE)
}

/// Whether a step is about a row or key that is kept only not to be asked for again: what is gone or old there is worked out once more.
pub(crate) fn is_in_cache(entry: &Entry<'_>, at: At) -> bool {
    let name = match entry.resource(at) {
        Some(Resource::Row { table, .. }) => entry.text(table),
        Some(Resource::Key(key)) => entry.text(key),
        _ => return false,
    };
    words(&name).iter().any(|word| matches!(word.as_str(), "cache" | "caches"))
}

/// A column that says when something was last changed.
pub(crate) fn notes_change(column: &str) -> bool {
    let plain: String = column.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    matches!(
        plain.as_str(),
        "updatedat" | "modifiedat" | "lastmodified" | "lastupdated" | "updated" | "mtime"
    )
}

/// `ownerId` and `owner_id` are one name.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    plain(&last(one)) == plain(&last(other))
}

/// Whether a name contains one of some words, whatever its case.
pub(crate) fn mentions(name: &str, words: &[&str]) -> bool {
    if !name.is_ascii() {
        let lower = name.to_lowercase();
        return words.iter().any(|word| lower.contains(word));
    }
    // Most places begin no word, and one letter tells.
    let name = name.as_bytes();
    (0..name.len()).any(|at| {
        let Some(rest @ [first, ..]) = name.get(at..) else { return false };
        let first = first.to_ascii_lowercase();
        words.iter().map(|word| word.as_bytes()).any(|word| {
            word.first() == Some(&first)
                && rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        })
    })
}

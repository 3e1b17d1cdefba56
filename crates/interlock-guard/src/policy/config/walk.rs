//! A document held against the schema: the keys that no table has, and what is said of the key at a place.

use std::ops::Range;

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    super::problem::{Problem, Source, nearest},
    schema::{SCHEMA, resolved},
};

/// How many keys are listed where none is near.
const LISTED: usize = 20;

/// Says of every key that no table has, which was perhaps meant.
pub(super) fn unknown_keys(document: &DeTable<'_>, source: Source<'_>, out: &mut Vec<Problem>) {
    in_table(document, &SCHEMA, "the file", source, out);
}

fn in_table(
    table: &DeTable<'_>,
    schema: &'static Value,
    place: &str,
    source: Source<'_>,
    out: &mut Vec<Problem>,
) {
    let Some(keys) = resolved(schema).get("properties").and_then(Value::as_object) else { return };
    for (key, value) in table {
        let name: &str = key.get_ref();
        match keys.get(name) {
            None => out.push(source.error(&key.span(), unknown(name, keys.keys(), place))),
            Some(inner) => match value.get_ref() {
                DeValue::Table(_) if resolved(inner).get("items").is_some() => {
                    out.push(source.error(
                        &key.span(),
                        format!("there may be several: write `[[{name}]]`, with two brackets"),
                    ));
                }
                DeValue::Table(table) => in_table(table, inner, &format!("`[{name}]`"), source, out),
                DeValue::Array(list) => {
                    let Some(items) = resolved(inner).get("items") else { continue };
                    for table in list.iter().filter_map(|item| item.get_ref().as_table()) {
                        in_table(table, items, &format!("`[[{name}]]`"), source, out);
                    }
                }
                _ => {}
            },
        }
    }
}

fn unknown<'k>(name: &str, keys: impl Iterator<Item = &'k String> + Clone, place: &str) -> String {
    match nearest(name, keys.clone().map(String::as_str)) {
        Some(near) => format!("{place} has no key `{name}`; the nearest is `{near}`"),
        None => {
            let all: Vec<_> = keys.take(LISTED).map(|key| format!("`{key}`")).collect();
            format!("{place} has no key `{name}`; it has {}", all.join(", "))
        }
    }
}

/// The key whose value has this place inside, the innermost, and what the schema says of it.
pub(super) fn key_at(document: &DeTable<'_>, at: &Range<usize>) -> Option<(String, &'static str)> {
    let mut found = None;
    let mut table = document;
    let mut schema: &'static Value = &SCHEMA;
    // Tables do not nest deeper than the parser lets them.
    while let Some((key, value)) = table.iter().find(|(_, value)| reaches(value, at)) {
        let Some(inner) = resolved(schema).get("properties").and_then(|keys| keys.get(&**key.get_ref()))
        else {
            break;
        };
        let said = inner.get("description").or_else(|| resolved(inner).get("description"));
        found = Some((key.get_ref().to_string(), said.and_then(Value::as_str).unwrap_or_default()));
        let (next, next_schema) = match value.get_ref() {
            DeValue::Table(next) => (next, Some(inner)),
            DeValue::Array(list) => {
                let item =
                    list.iter().find(|item| reaches(item, at)).and_then(|item| item.get_ref().as_table());
                let Some(next) = item else { break };
                (next, resolved(inner).get("items"))
            }
            _ => break,
        };
        let Some(next_schema) = next_schema else { break };
        (table, schema) = (next, next_schema);
    }
    found
}

/// Whether a place lies in a value. The place of a table that has a header is the header, so its values are asked, too.
fn reaches(value: &Spanned<DeValue<'_>>, at: &Range<usize>) -> bool {
    let own = value.span();
    let inside = match value.get_ref() {
        DeValue::Table(table) => table.iter().any(|(_, value)| reaches(value, at)),
        DeValue::Array(list) => list.iter().any(|value| reaches(value, at)),
        _ => false,
    };
    inside || (own.start <= at.start && at.end <= own.end && own.start < own.end)
}

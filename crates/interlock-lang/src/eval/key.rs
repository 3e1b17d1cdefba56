//! The places of a program as keys.

use std::borrow::Cow;

use interlock_model::ir::{AccessPath, Field, Name, Root};

/// The place that a path leads to, as a key: `src/a.ts::store.pool`; `src/a.ts::Store.pool` for a field of `this`. What is in a map
/// or a list has one place for all keys.
pub(super) fn place<'p>(path: &'p AccessPath, owner: Option<&Name>) -> Option<Cow<'p, str>> {
    let start: &str = match &path.root {
        Root::Global(name) if path.fields.is_empty() => return Some(Cow::Borrowed(name)),
        Root::Global(name) => name,
        Root::This => owner?,
        Root::Value(_) => return None,
    };
    let mut place = roomy(start);
    further(&mut place, &path.fields);
    Some(Cow::Owned(place))
}

/// A text with room for a few fields behind it.
pub(super) fn roomy(start: &str) -> String {
    let mut place = String::with_capacity(start.len() + 24);
    place.push_str(start);
    place
}

/// Adds fields to a place.
pub(crate) fn further(place: &mut String, fields: &[Field]) {
    for field in fields {
        match field {
            Field::Name(name) => {
                place.push('.');
                place.push_str(name);
            }
            Field::At(_) => place.push_str("[]"),
        }
    }
}

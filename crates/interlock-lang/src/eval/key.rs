//! The places of a program as keys.

use std::borrow::Cow;

use interlock_model::ir::{AccessPath, Field, Name, Root, Term};

/// The place that a path leads to, as a key: `src/a.ts::store.pool`; `src/a.ts::Store.pool` for a field of `this`. What is in a map
/// or a list has one place for all keys.
pub(super) fn place<'p>(path: &'p AccessPath, owner: Option<&Name>) -> Option<Cow<'p, str>> {
    let start: &str = match &path.root {
        Root::Global(name) if path.fields.is_empty() => return Some(Cow::Borrowed(name)),
        Root::Global(name) => name,
        Root::This => owner?,
        Root::Value(_) => return None,
    };
    let mut place = with_spare_capacity(start);
    further(&mut place, &path.fields);
    Some(Cow::Owned(place))
}

/// The same for a path in parts on which every entry has a place of its own: `tools["get-point"]` is `src/a.ts::tools.get-point`. `None`
/// where the way there depends on a value.
pub(crate) fn exact_place<'p>(
    root: &'p Root,
    fields: &[Field],
    owner: Option<&Name>,
) -> Option<Cow<'p, str>> {
    let mut place = match root {
        Root::Global(name) if fields.is_empty() => return Some(Cow::Borrowed(name)),
        Root::Global(name) => with_spare_capacity(name),
        Root::This if fields.is_empty() => return None,
        Root::This => with_spare_capacity(owner?),
        Root::Value(_) => return None,
    };
    for field in fields {
        place.push('.');
        place.push_str(exact_name(field)?);
    }
    Some(Cow::Owned(place))
}

/// The name of a field, where it does not depend on a value.
pub(crate) fn exact_name(field: &Field) -> Option<&str> {
    match field {
        Field::Name(name) | Field::At(Term::Literal(name)) => Some(name),
        Field::At(_) => None,
    }
}

/// A text with room for a few fields behind it.
pub(super) fn with_spare_capacity(start: &str) -> String {
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

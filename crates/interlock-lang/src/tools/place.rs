//! The places of a tree as keys.

use std::borrow::Cow;

use interlock_model::ir::{AccessPath, Field, Name, Root, Term};

/// The place that a path leads to, as a key: `src/a.ts::store.pool`; `src/a.ts::Store#pool` for a field of `this`. `None` where the
/// way there depends on a value.
pub(super) fn place<'p>(path: &'p AccessPath, owner: Option<&Name>) -> Option<Cow<'p, str>> {
    place_at(&path.root, &path.fields, owner)
}

/// The same for a path in parts.
pub(super) fn place_at<'p>(root: &'p Root, fields: &[Field], owner: Option<&Name>) -> Option<Cow<'p, str>> {
    let (mut place, mut fields) = (String::new(), fields.iter());
    match root {
        Root::Global(name) if fields.len() == 0 => return Some(Cow::Borrowed(name)),
        Root::Global(name) => {
            place.reserve(name.len() + 24);
            place.push_str(name);
        }
        Root::This => {
            let Field::Name(name) = fields.next()? else { return None };
            place.extend([owner?, "#", name]);
        }
        Root::Value(_) => return None,
    }
    for field in fields {
        place.push('.');
        place.push_str(name_of(field)?);
    }
    Some(Cow::Owned(place))
}

/// The name of a step, where it does not depend on a value.
pub(super) fn name_of(field: &Field) -> Option<&str> {
    match field {
        Field::Name(name) | Field::At(Term::Literal(name)) => Some(name),
        Field::At(_) => None,
    }
}

/// Whether a byte stands between the names of a place.
pub(super) fn separates(byte: u8) -> bool {
    matches!(byte, b'.' | b'#' | b':')
}

/// The last name of a place.
pub(super) fn end(place: &str) -> &str {
    let before = place.bytes().rposition(separates);
    before.and_then(|at| place.get(at + 1..)).unwrap_or(place)
}

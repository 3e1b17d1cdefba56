//! The places of a tree as keys, and their last names.

pub(super) use crate::eval::{exact_name as name_of, exact_place as place_at};

/// Whether a byte stands between the names of a place.
pub(super) fn separates(byte: u8) -> bool {
    matches!(byte, b'.' | b'#' | b':')
}

/// The last name of a place.
pub(super) fn end(place: &str) -> &str {
    let before = place.bytes().rposition(separates);
    before.and_then(|at| place.get(at + 1..)).unwrap_or(place)
}

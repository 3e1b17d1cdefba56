//! Aliasing: which steps touch the same thing, under whatever names.
//!
//! The doors: a path or term under its resolved name ([`Alias::resolve`]), whether two steps touch the same thing ([`Alias::overlap`]), whether
//! other calls see a location ([`Alias::is_shared`]), and a name in a form that can be compared between entries ([`Alias::pattern`]).

pub(in crate::view) mod alike;
pub(in crate::view) mod identity;
pub(in crate::view) mod objects;
pub(in crate::view) mod own_id;
pub(in crate::view) mod own_name;
pub(in crate::view) mod pattern;
pub(in crate::view) mod resolve;

use super::Entry;

/// What the names of an entry stand for.
#[derive(Debug, Clone, Copy)]
pub struct Alias<'v, 'e>(pub(in crate::view) &'v Entry<'e>);

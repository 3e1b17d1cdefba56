//! Data flow: def-use chains over the values of an entry.
//!
//! The doors: which reads a value depends on ([`Flow::sources`]), which reads flow into a write ([`Flow::data_dependences`]) or decide over a
//! step ([`Flow::controlling_reads`]), what a value is computed from ([`Flow::backward_slice`]), and who handed it in ([`Flow::origin`]).

pub(in crate::view) mod def_use;
pub(in crate::view) mod definition_sites;
pub(in crate::view) mod origins;
pub(in crate::view) mod sources;
pub(in crate::view) mod subjects;

use super::Entry;

/// The data flow of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Flow<'v, 'e>(pub(in crate::view) &'v Entry<'e>);

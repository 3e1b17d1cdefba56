//! The plan: which calls are to meet.
//!
//! Somebody names them ([`spec`], [`mod@file`]), a scan has found where to look ([`mod@from`]), or nobody says anything and the server is
//! [surveyed](survey) and the hazards' probes [`pick`].

pub mod arguments;
pub(crate) mod denial;
pub mod file;
pub mod from;
pub mod invariant;
pub mod listing;
pub mod pick;
pub mod restraint;
pub mod spec;
pub mod survey;
mod value;

use interlock_model::PlannedCall;

pub use value::plain;

/// Calls that are judged against every order of every subset: more than four are too many orders.
pub const MOST_SERIAL: usize = 4;
/// Calls that are ever under way together.
pub const MOST_CALLS: usize = 256;

/// What a set is called that nobody named: its tools.
#[must_use]
pub fn name_of(calls: &[PlannedCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    match names.as_slice() {
        [first, ..] if names.len() > MOST_SERIAL && names.iter().all(|name| name == first) => {
            format!("{first} × {}", names.len())
        }
        _ => names.join(" + "),
    }
}

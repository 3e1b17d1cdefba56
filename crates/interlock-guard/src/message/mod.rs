//! Messages, read in place: the envelope is parsed once, and one part can be changed without touching the rest.
//!
//! A `Message` is the bytes as they came and the places of those parts that the guard looks at. Nothing is built from it but slices of the
//! same bytes, and a change is a splice: what is not replaced goes on to the last blank as it was written.

mod compose;
mod envelope;
mod fault;
mod id;
mod scan;
mod splice;

pub use self::fault::Fault;
pub(crate) use self::{
    compose::{Code, answer, answer_error, failure, quoted},
    envelope::{Incoming, Kind, Message, is_alike},
    id::Id,
    scan::{Scanner, Span},
    splice::{Edit, one_line, splice},
};

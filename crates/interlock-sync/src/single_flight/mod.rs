//! One load per key at a time: whoever wants the same thing meanwhile shares the result.
//!
//! For loads that are dear or must not happen twice at once: a cache that is filled, a token that is refreshed. [`SingleFlight`] is the
//! type to begin with. For one value that is made once and kept, see [`once`](crate::once).

mod flight;
mod group;
mod seat;
#[cfg(test)]
mod tests;

pub use self::group::SingleFlight;

//! A lock for each resource of one process: fair, exclusive or shared, and gone from memory when nobody holds it.
//!
//! For calls that must not overlap while they work on the same thing, and for a read, a decision and a write that belong together.
//! [`KeyedLock`] is the type to begin with.

mod acquire;
mod entry;
mod guard;
mod keyed;
mod many;
mod queue;
mod table;
#[cfg(test)]
mod tests;

pub use self::{
    acquire::Acquire,
    entry::Mode,
    guard::Guard,
    keyed::KeyedLock,
    many::{AcquireAll, Guards},
};

//! What an operator hears of: nothing, unless the feature `tracing` is on. Every event has the target `interlock_sync`.
//!
//! | name | level | says |
//! |---|---|---|
//! | `wait` (a span) | debug | a call waits for its place in flight and its locks, or somebody for a lease or a shared permit |
//! | `refused` | info | a call has no answer, and why |
//! | `lease lost` | warn | a lease, a permit or a lock in a store is not held any more while its holder goes on |
//! | `in doubt` | warn | an effect vanished after it was dispatched |

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{in_doubt, lost, refused, waiting, waiting_for};
#[cfg(feature = "tracing")]
pub(crate) use self::on::{in_doubt, lost, refused, waiting, waiting_for};

#[cfg(test)]
#[cfg(feature = "tracing")]
mod tests;

//! Idempotency: an effect once per key, however often the request comes.
//!
//! | | for | duplicates wait | remembers |
//! |---|---|---|---|
//! | [`Idempotency`] | many processes on one [`Store`](crate::store::Store) | by asking the store again | across crashes |
//! | [`LocalIdempotency`] | one process | notified | until the process ends |
//!
//! Both do the same: the key is reserved together with a [`Fingerprint`](crate::store::Fingerprint) of the request, and the reservation is
//! marked as *dispatched* before the effect begins. Then
//!
//! - a duplicate waits for the ending, or is told the one that was stored;
//! - another request under the same key is refused;
//! - an attempt that vanished **before** it was dispatched did nothing, and the next one takes over;
//! - an attempt that vanished **after** that may have done it, and nobody can know: the key is *in doubt*, and is never run again by
//!   itself. A panic, a dropped future and a crashed process are all the same here.
//!
//! What is in doubt is listed by [`Doubts`], and settled by asking whoever did the effect. For that the effect gets a
//! [provider key](EffectContext::provider_key), the same each time, so that a provider who knows idempotency keys sees one request when the
//! call is sent again. Rolling an order back to *pending* and paying again under a new key is how customers are charged twice.

mod answer;
mod derive;
mod doubts;
mod local;
mod local_table;
mod perform;
mod reserve;
mod shared;
#[cfg(test)]
mod tests_faults;
#[cfg(test)]
mod tests_local;
#[cfg(test)]
mod tests_shared;

pub use self::{
    answer::{EffectContext, Failure, Kept, NotRun, Ran},
    doubts::{Doubts, Resolution},
    local::LocalIdempotency,
    shared::Idempotency,
};

//! Rate limits: how often a caller may, tested and counted in one step.
//!
//! | limit | for | a call costs |
//! |---|---|---|
//! | [`RateLimit`] | one process | a hash and one short hold of a mutex |
//! | [`SharedRateLimit`] | many processes on one [`Store`](crate::store::Store) | one round trip |
//!
//! Both take a [`Quota`](crate::store::Quota) and answer [`Taken`](crate::store::Taken). What a quota promises:
//!
//! | quota | most grants in any window of length w | kept per key |
//! |---|---|---|
//! | [`Bucket`](crate::store::Quota::Bucket) | burst + count × w / period | one moment |
//! | [`Log`](crate::store::Quota::Log) | exactly the limit, for w = window | one moment for each grant in the window |
//!
//! Neither reads and then counts, so parallel calls cannot overrun it; neither begins a new window at fixed moments, so its edge does
//! not admit twice the limit; and a refusal says when to come back.

mod local;
mod shared;
#[cfg(test)]
mod tests;

pub use self::{local::RateLimit, shared::SharedRateLimit};

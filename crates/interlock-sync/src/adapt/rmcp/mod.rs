//! A wrapper for any rmcp server that holds the calls of its tools to a policy.
//!
//! [`Guarded`] delegates everything to the handler inside. Only `tools/call` passes the [`Warden`](super::Warden) first.

mod answer;
mod delegate;
mod guarded;
#[cfg(test)]
mod tests;

pub use self::{answer::REFUSAL, guarded::Guarded};

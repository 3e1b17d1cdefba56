//! Adapters: the primitives of this crate around a whole server, from one policy.
//!
//! A [`Policy`] says, for each tool, how often and how many at once, what is locked, and where a call says which call it is. A [`Warden`]
//! holds calls to it.
//!
//! | I have | use | feature |
//! |---|---|---|
//! | an rmcp server | `rmcp::Guarded` around its handler | `rmcp` |
//! | a tower service that speaks HTTP | `tower::LimitLayer`: gate, rate and calls in flight | `tower` |
//! | something else | [`Warden::arrive`], then [`Arrived::run`] or [`Arrived::hold`] | |
//!
//! What is counted, locked and remembered lives in this process unless the policy names a store ([`PolicyBuilder::on`]).

mod admit;
mod call;
mod detach;
mod doubts;
mod limits;
mod locks;
mod pattern;
mod policy;
mod refusal;
#[cfg(feature = "rmcp")]
pub mod rmcp;
mod run;
mod template;
#[cfg(test)]
mod tests;
#[cfg(feature = "tower")]
pub mod tower;

pub use self::{
    admit::{Arrived, Held, Warden},
    call::{Call, CallerName, IDEMPOTENCY_KEY},
    policy::{InvalidPolicy, KeySource, Policy, PolicyBuilder, Rule},
    refusal::{CallRefusal, RefusalReason},
    run::{Answer, CallOutcome},
    template::InvalidTemplate,
};

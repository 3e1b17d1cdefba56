//! A tower layer that holds HTTP requests to a policy before anything of their bodies is read.
//!
//! For what can be known from the outside: [`LimitLayer`] applies the gate, rates and calls in flight. Locks and idempotency need a tool's
//! arguments, which are in the body; for those there is `Guarded`, behind this or alone.

mod body;
mod layer;
mod service;
#[cfg(test)]
mod tests;

pub use self::{
    body::HeldBody,
    layer::{BeyondLimits, LimitLayer},
    service::Limited,
};

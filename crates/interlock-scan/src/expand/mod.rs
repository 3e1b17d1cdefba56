//! Calls followed: every way into the program with its helpers in place of their calls.
//!
//! A function is expanded once, callees first, in terms of its own parameters, receiver and captures; whoever calls it gets a copy in
//! which those are bound to what the call hands over. What cannot matter to any rule is left out on the way, so that the copies stay
//! small.

mod bind;
mod entries;
mod follow;
mod prune;
mod rename;
#[cfg(test)]
mod tests;

pub(crate) use entries::entries;

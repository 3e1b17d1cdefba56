//! Calls followed: every way into the program with its helpers in place of their calls.
//!
//! A function is expanded once, callees first, in terms of its own parameters, receiver and captures; whoever calls it gets a copy in
//! which those are bound to what the call hands over. What cannot matter to any rule is left out on the way, so that the copies stay
//! small. Functions that do not depend on each other are expanded side by side, and a summary goes when nobody wants it any more: the
//! order is that of the calls, so that one thread and many give the same.

mod bind;
mod call;
mod calls;
mod copy;
mod entries;
mod follow;
mod local;
mod marks;
mod order;
mod prune;
mod rename;
mod renumber;
mod returns;
mod slice;
mod summary;
#[cfg(test)]
mod tests;
mod tool;
mod uses;
mod work;

pub(crate) use entries::entries;

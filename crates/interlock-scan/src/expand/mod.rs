//! Calls followed: every entry point of the program with its helpers in place of their calls.
//!
//! A function is expanded once, callees first, in terms of its own parameters, receiver and captures; whoever calls it gets a copy in
//! which those are bound to what the call hands over, or a step that stands for such a copy until the whole is put together. What cannot
//! matter to any rule is left out on the way, so that the copies stay small. Functions that do not depend on each other are expanded side
//! by side, in the order of their calls, so that one thread and many give the same.

mod bind;
mod bodies;
mod budget;
mod call;
mod calls;
mod compact;
mod component;
mod copy;
mod cut;
mod decided;
mod entries;
mod follow;
mod held;
mod inspect;
mod later;
mod local;
mod lost;
mod marks;
mod order;
mod parts;
mod prune;
mod rename;
mod renumber;
mod returns;
mod slice;
mod summary;
#[cfg(test)]
mod tests;
mod tool;
mod unreached;
mod uses;
mod whole;
mod work;

pub(crate) use calls::references;
pub(crate) use entries::{Expansion, expand};
pub(crate) use inspect::inlined;
pub(crate) use lost::{location, registrars};

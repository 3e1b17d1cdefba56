//! Control flow: the steps of an entry as a graph, and the questions that are asked of it.
//!
//! [`build`] lays nested blocks out flat and draws the edges; `flow_facts` are what holds at each step. The doors: which checks a step
//! depends on ([`Control::control_dependences`]) and what they must have said ([`Control::answer`]), whether control gets from one step to
//! another ([`Control::leads_to`]), how it can leave ([`Control::exits`]), and which loops are retries ([`Control::retry`]).

pub(in crate::view) mod branches;
pub(in crate::view) mod build;
pub(in crate::view) mod dangling;
pub(in crate::view) mod early_exits;
pub(in crate::view) mod edges;
pub(in crate::view) mod flow_facts;
pub(in crate::view) mod nesting;
pub(in crate::view) mod ops;
pub(in crate::view) mod reachability;
pub(in crate::view) mod reachable;
pub(in crate::view) mod retry;

pub use nesting::Escape;
pub use retry::Retry;

use super::Entry;

/// The control flow of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Control<'v, 'e>(pub(in crate::view) &'v Entry<'e>);

//! Locks and transactions: what keeps others out between two steps.
//!
//! The doors: what is held or open at a step ([`Locks::held`], [`Locks::open`]), and what lies between two steps ([`Locks::race_window`]). Who
//! can come into such a window is a question to the whole program: [`View::reach`](super::View::reach).

pub(in crate::view) mod held;
pub(in crate::view) mod transaction;
pub(in crate::view) mod window;

use super::Entry;

/// The locks and transactions of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Locks<'v, 'e>(pub(in crate::view) &'v Entry<'e>);

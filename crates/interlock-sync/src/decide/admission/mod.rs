//! Whether a call may run now, and what is left when it ends.
//!
//! A store asks [`admit`], or when a call ends [`raise`], [`end_attempt`] and [`settle_call`], about the rows of the keys that it names, and
//! writes what they decided, all in one critical section. Of a line only what matters to one asker is read ([`Before`]), so that a decision costs
//! the same however many wait.
//!
//! Tickets of the line, fences and versions come from one count of the store, [`next_number`]: each greater than all before it.

mod admit;
mod rows;
mod settle;

pub use self::{
    admit::{Charging, Decision, Standing, admit},
    rows::{Before, CallRow, InUse, Rows, VersionRow, ViewRow, is_fresh, next_number},
    settle::{end_attempt, hold_attempt, prolong_attempt, raise, settle_call},
};

//! Counters of one session each, which are read and changed in one step and do not outlive their use.
//!
//! [`SessionCounters`] counts in this process; [`StoredCounters`] in a store, for sessions that wander between processes.

mod counters;
mod stored;
#[cfg(test)]
mod tests;

pub use self::{
    counters::{Added, SessionCounters},
    stored::{SessionError, StoredAdded, StoredCounters},
};

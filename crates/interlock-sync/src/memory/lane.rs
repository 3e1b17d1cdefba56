//! Who has a lock or the places of a key, and who waits for it.

use std::collections::BTreeSet;

use super::line::Line;
use crate::{
    clock::Timestamp,
    decide::{Before, InUse},
    store::OpId,
};

/// One key. All that a call has, it has until the same moment, which its own row says.
#[derive(Debug, Default)]
pub(super) struct Lane {
    exclusive: Option<(Timestamp, OpId)>,
    /// Those who share it, or have a place each, by their end.
    shared: BTreeSet<(Timestamp, OpId)>,
    pub(super) line: Line,
}

impl Lane {
    /// Forgets who has run out of time.
    pub(super) fn tidy(&mut self, now: Timestamp) {
        self.exclusive = self.exclusive.filter(|(until, _)| *until > now);
        while self.shared.first().is_some_and(|(until, _)| *until <= now) {
            self.shared.pop_first();
        }
        self.line.tidy(now);
    }

    /// How many rows there are; without any, it can be forgotten.
    pub(super) fn len(&self) -> usize {
        usize::from(self.exclusive.is_some()) + self.shared.len() + self.line.len()
    }

    pub(super) fn hold(&mut self, call: OpId, is_shared: bool, until: Timestamp) {
        if is_shared {
            self.shared.insert((until, call));
        } else {
            self.exclusive = Some((until, call));
        }
    }

    /// Whether a call that holds until then has it.
    pub(super) fn is_held(&self, call: OpId, until: Timestamp) -> bool {
        self.exclusive == Some((until, call)) || self.shared.contains(&(until, call))
    }

    /// Gives it more time, if the call that holds until then has it.
    pub(super) fn prolong(&mut self, call: OpId, until: Timestamp, longer: Timestamp) {
        if self.exclusive == Some((until, call)) {
            self.exclusive = Some((longer, call));
        } else if self.shared.remove(&(until, call)) {
            self.shared.insert((longer, call));
        }
    }

    /// Gives it back, if the call that holds until then has it.
    pub(super) fn release(&mut self, call: OpId, until: Timestamp) {
        if self.exclusive == Some((until, call)) {
            self.exclusive = None;
        }
        self.shared.remove(&(until, call));
    }

    /// As a lock. All rows are live: it was tidied at this moment.
    pub(super) fn before(&self, is_shared: bool, ticket: Option<u64>) -> Before {
        let exclusive = self.exclusive.map(|(until, _)| until);
        let shared = self.shared.last().map(|(until, _)| *until).filter(|_| !is_shared);
        Before {
            held_until: exclusive.max(shared),
            line_until: self.line.first_end(ticket, is_shared),
            ahead: self.line.ahead(ticket),
        }
    }

    /// As places. All rows are live: it was tidied at this moment.
    pub(super) fn in_use(&self, ticket: Option<u64>) -> InUse {
        InUse {
            count: u32::try_from(self.shared.len()).unwrap_or(u32::MAX),
            first_end: self.shared.first().map(|(until, _)| *until),
            line_until: self.line.first_end(ticket, false),
            ahead: self.line.ahead(ticket),
        }
    }
}

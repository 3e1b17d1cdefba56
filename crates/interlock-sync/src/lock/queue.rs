//! Who waits for a key, in the order of arrival.

use std::{collections::BTreeMap, task::Waker};

use super::entry::Mode;

/// The waiting, by ticket. A tree, so that giving up costs little wherever one stands, also in a long queue.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeMap<u64, Waiter>);

#[derive(Debug)]
struct Waiter {
    mode: Mode,
    waker: Waker,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes to the end. The ticket is greater than all before.
    pub(super) fn push(&mut self, ticket: u64, mode: Mode, waker: Waker) {
        self.0.insert(ticket, Waiter { mode, waker });
    }

    /// Whether a ticket is still in here; if so, this is whom to wake from now on. The waker that was there before comes back,
    /// because dropping it can run anything.
    pub(super) fn renew(&mut self, ticket: u64, waker: &Waker) -> (bool, Option<Waker>) {
        match self.0.get_mut(&ticket) {
            None => (false, None),
            Some(waiter) if waiter.waker.will_wake(waker) => (true, None),
            Some(waiter) => (true, Some(std::mem::replace(&mut waiter.waker, waker.clone()))),
        }
    }

    /// Leaves, if it is still in here.
    pub(super) fn remove(&mut self, ticket: u64) -> Option<Waker> {
        self.0.remove(&ticket).map(|waiter| waiter.waker)
    }

    /// Takes the first out if its mode will do.
    pub(super) fn pop_if(&mut self, will_do: impl FnOnce(Mode) -> bool) -> Option<(Mode, Waker)> {
        let first = self.0.first_entry()?;
        will_do(first.get().mode).then(|| {
            let waiter = first.remove();
            (waiter.mode, waiter.waker)
        })
    }
}

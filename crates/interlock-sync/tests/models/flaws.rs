//! Locks with one flaw each, of the kind that published ones had: the models find it. The same lock without a flaw passes them.

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use shuttle::sync::{Mutex, MutexGuard, PoisonError};

use crate::{
    harness::explore,
    lock::Mode,
    subject::{self, Acquired, GaveUp, Subject},
};

/// Nothing wrong.
const NONE: u8 = 0;
/// Compares the wrong thing when it decides whether it was the last, and so never removes an entry.
const NEVER_REMOVES: u8 = 1;
/// Removes the entry when it is released, also if somebody waits there.
const REMOVES_IN_USE: u8 = 2;
/// Whoever is granted the key and dropped before it notices keeps it.
const KEEPS_THE_TURN: u8 = 3;
/// Looks whether the key is free, and queues up in another step.
const LOOKS_THEN_WAITS: u8 = 4;
/// Serves the last first.
const LAST_FIRST: u8 = 5;

/// A plain keyed mutex.
#[derive(Default)]
struct Plain<const FLAW: u8>(Mutex<HashMap<usize, Slot>>);

#[derive(Default, Clone)]
struct Slot(Arc<std::sync::Mutex<State>>);

#[derive(Default)]
struct State {
    held: bool,
    queue: VecDeque<(u64, Waker)>,
    last: u64,
}

struct Hold<const FLAW: u8> {
    lock: Arc<Plain<FLAW>>,
    key: usize,
    slot: Slot,
}

struct Wish<const FLAW: u8> {
    lock: Arc<Plain<FLAW>>,
    key: usize,
    place: Option<(Slot, u64)>,
}

impl<const FLAW: u8> Subject for Plain<FLAW> {
    type Guard = Hold<FLAW>;

    fn acquire(self: &Arc<Self>, key: usize, _: Mode) -> Acquired<Hold<FLAW>> {
        Box::pin(Wish { lock: Arc::clone(self), key, place: None })
    }

    fn keys(&self) -> usize {
        self.enter().len()
    }
}

impl<const FLAW: u8> Future for Wish<FLAW> {
    type Output = Hold<FLAW>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Hold<FLAW>> {
        let waker = context.waker().clone();
        let lock = Arc::clone(&self.lock);
        let mut map = lock.enter();
        let (slot, waits) = match &self.place {
            Some((slot, ticket)) => {
                let mut state = slot.state();
                let place = state.queue.iter_mut().find(|(other, _)| other == ticket);
                (slot.clone(), place.map(|place| place.1 = waker).is_some())
            }
            None => {
                let slot = map.entry(self.key).or_default().clone();
                if FLAW == LOOKS_THEN_WAITS && slot.state().held {
                    drop(map);
                    let _map = lock.enter();
                    let ticket = slot.wait(waker);
                    self.place = Some((slot, ticket));
                    return Poll::Pending;
                }
                let was_held = std::mem::replace(&mut slot.state().held, true);
                if was_held {
                    self.place = Some((slot.clone(), slot.wait(waker)));
                }
                (slot, was_held)
            }
        };
        drop(map);
        if waits {
            return Poll::Pending;
        }
        self.place = None;
        Poll::Ready(Hold { lock, key: self.key, slot })
    }
}

impl Slot {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, waker: Waker) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let ticket = state.last;
        state.queue.push_back((ticket, waker));
        ticket
    }
}

impl<const FLAW: u8> Plain<FLAW> {
    fn enter(&self) -> MutexGuard<'_, HashMap<usize, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, key: usize, slot: &Slot) {
        let mut map = self.enter();
        let next = {
            let mut state = slot.state();
            let next = if FLAW == LAST_FIRST { state.queue.pop_back() } else { state.queue.pop_front() };
            state.held = next.is_some();
            next
        };
        let remove = match FLAW {
            // A promise chain that looks for the promise it has just made instead of the one in the map.
            NEVER_REMOVES => Arc::ptr_eq(&Slot::default().0, &slot.0),
            REMOVES_IN_USE => true,
            _ => next.is_none(),
        };
        if remove {
            map.remove(&key);
        }
        drop(map);
        next.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

impl<const FLAW: u8> Drop for Hold<FLAW> {
    fn drop(&mut self) {
        self.lock.release(self.key, &self.slot);
    }
}

impl<const FLAW: u8> Drop for Wish<FLAW> {
    fn drop(&mut self) {
        let Some((slot, ticket)) = self.place.take() else { return };
        let waited = {
            let _map = self.lock.enter();
            let mut state = slot.state();
            let before = state.queue.len();
            state.queue.retain(|(other, _)| *other != ticket);
            state.queue.len() < before
        };
        if !waited && FLAW != KEEPS_THE_TURN {
            self.lock.release(self.key, &slot);
        }
    }
}

fn comings_and_goings<const FLAW: u8>() {
    static GAVE_UP: GaveUp = GaveUp::new();
    subject::comings_and_goings::<Plain<FLAW>>(&GAVE_UP);
}

#[test]
fn without_a_flaw_it_passes() {
    explore(2_000, comings_and_goings::<NONE>);
    explore(2_000, subject::first_come_first_served::<Plain<NONE>>);
}

#[test]
#[should_panic(expected = "entries are left behind")]
fn a_lock_that_compares_the_wrong_entry_is_caught() {
    explore(10_000, comings_and_goings::<NEVER_REMOVES>);
}

#[test]
#[should_panic(expected = "two are inside")]
fn a_lock_that_removes_an_entry_in_use_is_caught() {
    explore(10_000, comings_and_goings::<REMOVES_IN_USE>);
}

// Seen by the next who waits for ever, or by the entry that is left if there is none.
#[test]
#[should_panic]
fn a_lock_that_keeps_the_turn_of_a_cancelled_waiter_is_caught() {
    explore(10_000, comings_and_goings::<KEEPS_THE_TURN>);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_lock_that_looks_and_then_waits_is_caught() {
    explore(10_000, comings_and_goings::<LOOKS_THEN_WAITS>);
}

#[test]
#[should_panic(expected = "overtook")]
fn a_lock_that_serves_the_last_first_is_caught() {
    explore(10_000, subject::first_come_first_served::<Plain<LAST_FIRST>>);
}

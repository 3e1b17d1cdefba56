//! Waiting for a key.

use std::{
    fmt,
    hash::Hash,
    ops::Deref,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    entry::Mode,
    guard::Guard,
    keyed::KeyedLock,
    table::{Entered, Place},
};

/// The future of a [`Guard`]. It joins the queue when it is first polled, and works on any executor.
///
/// # Cancel safety
///
/// Dropping it loses the place in the queue. If the key had been granted meanwhile, it goes on to the next who waits.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Acquire<K, L: Deref<Target = KeyedLock<K>>> {
    /// Gone when the guard has it.
    lock: Option<L>,
    stage: Stage<K>,
}

enum Stage<K> {
    New(K, Mode),
    Waiting(Place),
    Done,
}

impl<K, L: Deref<Target = KeyedLock<K>>> Acquire<K, L> {
    pub(super) fn new(lock: L, key: K, mode: Mode) -> Self {
        Self { lock: Some(lock), stage: Stage::New(key, mode) }
    }
}

/// Nothing in it refers to itself.
impl<K, L: Deref<Target = KeyedLock<K>>> Unpin for Acquire<K, L> {}

impl<K: Eq + Hash, L: Deref<Target = KeyedLock<K>>> Future for Acquire<K, L> {
    type Output = Guard<K, L>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(lock) = this.lock.as_deref() else { panic!("polled again after it was ready") };
        let hold = match std::mem::replace(&mut this.stage, Stage::Done) {
            Stage::New(key, mode) => match lock.enter(key, mode, Some(context.waker())) {
                Entered::Held(hold, _key) => Some(hold),
                Entered::Waiting(place, _key) => {
                    this.stage = Stage::Waiting(place);
                    None
                }
                Entered::Busy(_) => None,
            },
            Stage::Waiting(place) => {
                // Back before anything else can go wrong: from here on a drop must give the place up.
                this.stage = Stage::Waiting(place);
                (!lock.still_waits(place, context.waker())).then_some(place.hold)
            }
            Stage::Done => None,
        };
        let Some(hold) = hold else { return Poll::Pending };
        this.stage = Stage::Done;
        this.lock.take().map_or(Poll::Pending, |lock| Poll::Ready(Guard::new(lock, hold)))
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> Drop for Acquire<K, L> {
    fn drop(&mut self) {
        if let (Some(lock), Stage::Waiting(place)) = (self.lock.as_deref(), &self.stage) {
            lock.withdraw(*place);
        }
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> fmt::Debug for Acquire<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::New(..) => "new",
            Stage::Waiting(_) => "waiting",
            Stage::Done => "done",
        };
        f.debug_tuple("Acquire").field(&stage).finish()
    }
}

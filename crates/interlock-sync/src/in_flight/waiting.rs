//! A place in the queue of an in-flight limit: a permit, the deadline, or going away, whichever is first.

use std::{
    future::{Future, poll_fn},
    hash::Hash,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use super::{InFlight, shard::Place};

/// Somebody who waits. Dropped without an answer, it leaves the queue, and passes a permit on that it was handed and never saw.
pub(super) struct Waiting<'a, K: Hash + Eq> {
    limit: &'a InFlight<K>,
    place: Place,
    id: u64,
    is_answered: bool,
}

impl<'a, K: Hash + Eq> Waiting<'a, K> {
    pub(super) fn new(limit: &'a InFlight<K>, place: Place, id: u64) -> Self {
        Self { limit, place, id, is_answered: false }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// How many are out, when the time is up.
    pub(super) async fn until(mut self, wait: Duration) -> Result<Place, u32> {
        let mut deadline = pin!(tokio::time::sleep(wait));
        poll_fn(|cx| if self.is_handed(cx) { Poll::Ready(()) } else { deadline.as_mut().poll(cx) }).await;
        if self.is_answered {
            return Ok(self.place);
        }
        // The permit may have come between the last look and the deadline: then it is taken, not wasted.
        let mut shard = self.limit.shard(self.place);
        self.is_answered = true;
        if shard.leave(self.place, self.id) { Ok(self.place) } else { Err(shard.out(self.place)) }
    }

    fn is_handed(&mut self, cx: &Context<'_>) -> bool {
        let waker = cx.waker().clone();
        let (is_handed, _unneeded) = self.limit.shard(self.place).is_handed(self.place, self.id, waker);
        self.is_answered = is_handed;
        is_handed
    }
}

impl<K: Hash + Eq> Drop for Waiting<'_, K> {
    fn drop(&mut self) {
        if !self.is_answered && self.limit.shard(self.place).leave(self.place, self.id) {
            self.limit.give_back(self.place);
        }
    }
}

//! Tasks to wake, gathered inside a mutex and woken outside: a woken task may run at once and want the same mutex.

use std::task::Waker;

/// Wakers that are due. Mostly there is none or one, and then nothing is allocated.
#[derive(Debug, Default)]
#[must_use = "whoever was chosen waits for ever unless it is woken"]
pub(crate) enum Wakes {
    #[default]
    None,
    One(Waker),
    Many(Vec<Waker>),
}

impl Wakes {
    /// One more.
    pub(crate) fn push(&mut self, waker: Waker) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(waker),
            Self::One(first) => Self::Many(vec![first, waker]),
            Self::Many(mut wakers) => {
                wakers.push(waker);
                Self::Many(wakers)
            }
        };
    }

    /// Wakes them, in the order in which they came. No mutex may be held.
    #[inline]
    pub(crate) fn wake(self) {
        match self {
            Self::None => {}
            Self::One(waker) => waker.wake(),
            Self::Many(wakers) => wakers.into_iter().for_each(Waker::wake),
        }
    }
}

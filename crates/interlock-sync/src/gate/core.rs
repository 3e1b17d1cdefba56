//! The gate itself, without a clock and without an executor. A model test includes this very file with the primitives of a model
//! checker under `crate::prim`, so whatever decides who is inside stands here.

use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use crate::prim::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// The bit of the word that says that the gate is closed. It is set once and never cleared.
const CLOSED: usize = 1;

/// One more inside. The rest of the word is their number.
const ONE: usize = 2;

/// A gate that calls pass on their way in and that can be closed once, for good.
///
/// Clones are the same gate. Whether it is closed and how many are inside is one atomic word, so testing the one and counting into
/// the other is one step: no call gets in after [`shut`](Self::shut) or [`close`](Self::close), not even one that had looked
/// before, and once the gate is closed the number inside only falls.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use interlock_sync::gate::{Closed, Gate};
///
/// let gate = Gate::new();
/// let call = gate.enter().expect("the gate is open");
///
/// // The call is still inside when the second is over.
/// assert_eq!(gate.close(Duration::from_secs(1)).await, 1);
/// assert_eq!(gate.enter().unwrap_err(), Closed);
///
/// drop(call);
/// assert_eq!(gate.close(Duration::from_secs(1)).await, 0);
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gate {
    shared: Arc<Shared>,
}

/// The refusal: the gate is closed, and the call has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("closed: no call may start any more")]
pub struct Closed;

/// A call that is inside; it leaves when this is dropped, also by a panic.
#[derive(Debug)]
#[must_use = "the call leaves when this is dropped"]
pub struct Inside<'a> {
    shared: &'a Shared,
}

/// Like [`Inside`], for a call that outlives the borrow of its gate, such as a task.
#[derive(Debug)]
#[must_use = "the call leaves when this is dropped"]
pub struct OwnedInside {
    shared: Arc<Shared>,
}

/// Ready once the gate is closed and nobody is inside. From [`Gate::drained`].
#[derive(Debug)]
#[must_use = "a future waits only when it is awaited"]
pub struct Drained<'a> {
    shared: &'a Shared,
    /// Under which number the waker is kept, once it was.
    ticket: Option<u64>,
}

#[derive(Debug)]
struct Shared {
    word: AtomicUsize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next_ticket: u64,
    wakers: Vec<(u64, Waker)>,
}

impl Gate {
    /// An open gate with nobody inside.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared { word: AtomicUsize::new(0), waiting: Mutex::new(Waiting::default()) }),
        }
    }

    /// Goes in, unless the gate is closed. The test and the count are one atomic operation, and a refused call leaves no trace.
    ///
    /// # Errors
    ///
    /// [`Closed`], and the call must not begin.
    pub fn enter(&self) -> Result<Inside<'_>, Closed> {
        self.shared.count_in()?;
        Ok(Inside { shared: &self.shared })
    }

    /// Like [`enter`](Self::enter), with a guard that owns its share of the gate. Costs one reference count more.
    ///
    /// # Errors
    ///
    /// [`Closed`], and the call must not begin.
    pub fn enter_owned(&self) -> Result<OwnedInside, Closed> {
        self.shared.count_in()?;
        Ok(OwnedInside { shared: Arc::clone(&self.shared) })
    }

    /// Closes the gate without waiting for those inside. Closing it again changes nothing.
    pub fn shut(&self) {
        self.shared.shut();
    }

    /// Waits until the gate is closed and nobody is inside, on any executor and without a limit. Does not close it.
    ///
    /// What those inside did happens before this is ready.
    ///
    /// # Cancel safety
    ///
    /// Dropping it only stops the waiting.
    pub fn drained(&self) -> Drained<'_> {
        Drained { shared: &self.shared, ticket: None }
    }

    /// Whether it is closed. A `false` may be out of date when it arrives: only [`enter`](Self::enter) decides.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.word.load(Ordering::Acquire) & CLOSED != 0
    }

    /// How many are inside just now.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.shared.word.load(Ordering::Acquire) / ONE
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// A loop of compare-and-swap rather than adding first and taking back when the gate turns out to be closed: that would let
    /// the number inside rise after the closing, for calls that never were inside.
    fn count_in(&self) -> Result<(), Closed> {
        let mut word = self.word.load(Ordering::Acquire);
        while word & CLOSED == 0 {
            // It would take half the address space of guards that were forgotten to overflow the word.
            match self.word.compare_exchange_weak(word, word + ONE, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
        Err(Closed)
    }

    fn count_out(&self) {
        // Released, so that whoever sees the count at zero also sees what the calls did.
        if self.word.fetch_sub(ONE, Ordering::Release) == CLOSED + ONE {
            self.wake_all();
        }
    }

    fn shut(&self) {
        if self.word.fetch_or(CLOSED, Ordering::AcqRel) == 0 {
            self.wake_all();
        }
    }

    /// Only whoever brought the word to "closed and empty" comes here, and the word stays so from then on. A waiter looks at the
    /// word and leaves its waker under one hold of this mutex: it either sees that word, or its waker is seen here.
    fn wake_all(&self) {
        let wakers = mem::take(&mut self.waiting().wakers);
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Drained<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let shared = self.shared;
        // Wakers are cloned before and dropped after the mutex is held: both run code of the executor.
        let waker = context.waker().clone();
        let mut waiting = shared.waiting();
        if shared.word.load(Ordering::Acquire) == CLOSED {
            return Poll::Ready(());
        }
        let (ticket, replaced) = waiting.keep(self.ticket, waker);
        self.ticket = Some(ticket);
        drop(waiting);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Drained<'_> {
    fn drop(&mut self) {
        let forgotten = self.ticket.and_then(|ticket| self.shared.waiting().forget(ticket));
        drop(forgotten);
    }
}

impl Waiting {
    /// Keeps the waker under its ticket, or a new one, and hands back the waker that it replaces.
    fn keep(&mut self, ticket: Option<u64>, waker: Waker) -> (u64, Option<Waker>) {
        if let Some((ticket, kept)) = self.wakers.iter_mut().find(|(kept, _)| Some(*kept) == ticket) {
            return (*ticket, Some(mem::replace(kept, waker)));
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.wakers.push((ticket, waker));
        (ticket, None)
    }

    fn forget(&mut self, ticket: u64) -> Option<Waker> {
        let at = self.wakers.iter().position(|(kept, _)| *kept == ticket)?;
        Some(self.wakers.swap_remove(at).1)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.shared.count_out();
    }
}

impl Drop for OwnedInside {
    fn drop(&mut self) {
        self.shared.count_out();
    }
}

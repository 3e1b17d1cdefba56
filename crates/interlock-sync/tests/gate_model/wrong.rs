//! The gates that people write. Each has one gap, and each is here so that a check that stops seeing it fails.

use std::{
    future::{Future, poll_fn},
    mem,
    task::{Poll, Waker},
};

use loom::future::block_on;

use crate::{
    door::{Door, Drains},
    prim::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// The flag is swapped outside the lock under which calls are counted: a call that has seen it open may count itself in when the
/// closing has found nobody.
pub(crate) struct FlagOutsideTheLock {
    closed: AtomicBool,
    inside: Mutex<usize>,
    left: Condvar,
}

impl Door for FlagOutsideTheLock {
    fn new() -> Self {
        Self { closed: AtomicBool::new(false), inside: Mutex::new(0), left: Condvar::new() }
    }

    fn call(&self, inside: impl FnOnce()) -> bool {
        if self.closed.load(Ordering::SeqCst) {
            return false;
        }
        *self.inside.lock().unwrap() += 1;
        inside();
        *self.inside.lock().unwrap() -= 1;
        self.left.notify_all();
        true
    }

    fn close(&self) {
        self.closed.swap(true, Ordering::SeqCst);
        let mut inside = self.inside.lock().unwrap();
        while *inside > 0 {
            inside = self.left.wait(inside).unwrap();
        }
    }
}

/// The flag is tested under a lock, but the lock is given back before the call counts itself in: the wait group's "add after wait".
pub(crate) struct CountedAfterTheTest {
    closed: Mutex<bool>,
    inside: Mutex<usize>,
    left: Condvar,
}

impl Door for CountedAfterTheTest {
    fn new() -> Self {
        Self { closed: Mutex::new(false), inside: Mutex::new(0), left: Condvar::new() }
    }

    fn call(&self, inside: impl FnOnce()) -> bool {
        let closed = *self.closed.lock().unwrap();
        if closed {
            return false;
        }
        *self.inside.lock().unwrap() += 1;
        inside();
        *self.inside.lock().unwrap() -= 1;
        self.left.notify_all();
        true
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true;
        let mut inside = self.inside.lock().unwrap();
        while *inside > 0 {
            inside = self.left.wait(inside).unwrap();
        }
    }
}

/// Counts rightly, but the waiter looks at the word before it leaves its waker: the last call may leave in between, and wakes
/// nobody.
pub(crate) struct WakerKeptTooLate {
    /// The lowest bit is the closed flag, the rest the number inside.
    word: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
}

impl Door for WakerKeptTooLate {
    fn new() -> Self {
        Self { word: AtomicUsize::new(0), wakers: Mutex::new(Vec::new()) }
    }

    fn call(&self, inside: impl FnOnce()) -> bool {
        let enter = |word| (word & 1 == 0).then_some(word + 2);
        if self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_err() {
            return false;
        }
        inside();
        if self.word.fetch_sub(2, Ordering::AcqRel) == 3 {
            mem::take(&mut *self.wakers.lock().unwrap()).into_iter().for_each(Waker::wake);
        }
        true
    }

    fn close(&self) {
        self.shut();
        block_on(self.drained());
    }
}

impl Drains for WakerKeptTooLate {
    fn shut(&self) {
        self.word.fetch_or(1, Ordering::AcqRel);
    }

    fn drained(&self) -> impl Future<Output = ()> {
        poll_fn(|context| {
            if self.word.load(Ordering::Acquire) == 1 {
                return Poll::Ready(());
            }
            self.wakers.lock().unwrap().push(context.waker().clone());
            Poll::Pending
        })
    }
}

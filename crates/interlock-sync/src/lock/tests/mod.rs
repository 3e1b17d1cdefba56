//! The lock on a real runtime, and polled by hand.

mod many;
mod order;
mod outside;
mod stress;

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use super::*;

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

fn ready<F: Future + Unpin>(mut future: F) -> F::Output {
    match poll(&mut future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it has to wait"),
    }
}

#[test]
fn a_key_is_held_by_one_and_another_key_is_another_lock() {
    let lock = KeyedLock::new();
    let one = ready(lock.lock("a"));
    assert!(lock.try_lock("a").is_none());
    assert!(lock.try_lock_shared("a").is_none());
    let other = lock.try_lock("b").unwrap();
    assert_eq!(lock.len(), 2);
    drop((one, other));
    assert!(lock.is_empty());
    assert!(lock.try_lock("a").is_some());
}

#[test]
fn readers_hold_a_key_together() {
    let lock = KeyedLock::new();
    let one = ready(lock.lock_shared("a"));
    let other = lock.try_lock_shared("a").unwrap();
    assert!(lock.try_lock("a").is_none());
    drop(one);
    assert!(lock.try_lock("a").is_none());
    drop(other);
    assert!(lock.is_empty());
}

#[test]
fn a_panic_of_the_holder_gives_the_key_back() {
    let lock = KeyedLock::new();
    let guard = ready(lock.lock("a"));
    let mut next = lock.lock("a");
    assert!(poll(&mut next).is_pending());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _guard = guard;
        std::panic::resume_unwind(Box::new("half way"));
    }));
    assert!(caught.is_err());
    drop(ready(next));
    assert!(lock.is_empty());
}

#[test]
fn a_panic_of_the_key_itself_spoils_nothing() {
    struct Touchy(bool);
    impl PartialEq for Touchy {
        fn eq(&self, other: &Self) -> bool {
            if self.0 || other.0 {
                std::panic::resume_unwind(Box::new("compared"));
            }
            true
        }
    }
    impl Eq for Touchy {}
    impl std::hash::Hash for Touchy {
        fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
    }
    let lock = KeyedLock::new();
    let guard = ready(lock.lock(Touchy(false)));
    let asked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lock.try_lock(Touchy(true)).is_some()));
    assert!(asked.is_err());
    assert!(lock.try_lock(Touchy(false)).is_none());
    drop(guard);
    assert!(lock.is_empty());
}

#[tokio::test]
async fn guards_and_futures_can_move_between_threads_and_outlive_the_caller() {
    fn movable<T: Send + 'static>(value: T) -> T {
        value
    }
    let lock = Arc::new(KeyedLock::new());
    let guard = movable(lock.lock_owned("a".to_owned(), Mode::Exclusive)).await;
    assert!(lock.try_lock_owned("a".to_owned(), Mode::Shared).is_none());
    let waiting = tokio::spawn(movable(lock.lock_owned("a".to_owned(), Mode::Shared)));
    std::thread::spawn(move || drop(movable(guard))).join().unwrap();
    let all = movable(lock.lock_all_owned([("b".to_owned(), Mode::Exclusive)])).await;
    drop(movable(waiting.await.unwrap()));
    drop(movable(all));
    assert!(lock.is_empty());
}

#[test]
#[should_panic(expected = "polled again")]
fn a_guard_is_handed_out_once() {
    let lock = KeyedLock::new();
    let mut future = lock.lock("a");
    let _guard = poll(&mut future);
    let _again = poll(&mut future);
}

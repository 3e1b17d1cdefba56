//! Single flight on a real runtime, and polled by hand.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use tokio::sync::oneshot;

use super::*;

type Flights = SingleFlight<&'static str, Result<u32, String>>;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A load that ends when it is told how.
async fn told(answer: oneshot::Receiver<Result<u32, String>>) -> Result<u32, String> {
    answer.await.unwrap()
}

async fn never() -> Result<u32, String> {
    unreachable!("somebody else's load is under way")
}

#[test]
fn everybody_who_comes_meanwhile_gets_the_one_result_and_nothing_is_kept() {
    let flights = Flights::new();
    let (tell, answer) = oneshot::channel();
    let mut first = pin!(flights.load("a", || told(answer)));
    let mut second = pin!(flights.load("a", never));
    let mut other = pin!(flights.load("b", || async { Ok(8) }));
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(second.as_mut()).is_pending());
    assert_eq!(poll(other.as_mut()), Poll::Ready(Ok(8)));
    assert_eq!(flights.len(), 1);
    tell.send(Ok(7)).unwrap();
    assert!(poll(second.as_mut()).is_pending(), "only the first drives");
    assert_eq!(poll(first.as_mut()), Poll::Ready(Ok(7)));
    assert!(flights.is_empty());
    let mut later = pin!(flights.load("a", || async { Ok(9) }));
    assert_eq!(poll(later.as_mut()), Poll::Ready(Ok(9)));
    assert_eq!(poll(second.as_mut()), Poll::Ready(Ok(7)));
}

#[test]
fn an_error_goes_to_all_of_its_flight_and_to_nobody_later() {
    let flights = Flights::new();
    let (tell, answer) = oneshot::channel();
    let mut first = pin!(flights.load("a", || told(answer)));
    let mut second = pin!(flights.load("a", never));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    tell.send(Err("down".to_owned())).unwrap();
    assert_eq!(poll(first.as_mut()), Poll::Ready(Err("down".to_owned())));
    assert_eq!(poll(second.as_mut()), Poll::Ready(Err("down".to_owned())));
    let mut later = pin!(flights.load("a", || async { Ok(1) }));
    assert_eq!(poll(later.as_mut()), Poll::Ready(Ok(1)));
}

#[tokio::test]
async fn a_cancelled_driver_leaves_the_same_load_to_the_next() {
    let flights = Arc::new(Flights::new());
    let started = Arc::new(AtomicUsize::new(0));
    let (tell, answer) = oneshot::channel();
    let count = Arc::clone(&started);
    let mut first = Box::pin(flights.load("a", move || {
        count.fetch_add(1, Ordering::SeqCst);
        told(answer)
    }));
    assert!(poll(first.as_mut()).is_pending());
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let flights = Arc::clone(&flights);
            tokio::spawn(async move { flights.load("a", never).await })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(first);
    waiting[0].abort();
    tokio::task::yield_now().await;
    tell.send(Ok(7)).unwrap();
    for task in waiting.into_iter().skip(1) {
        assert_eq!(task.await.unwrap(), Ok(7));
    }
    assert_eq!(started.load(Ordering::SeqCst), 1);
    assert!(flights.is_empty());
}

#[test]
fn a_load_that_everybody_left_is_dropped_and_forgotten() {
    let flights = Flights::new();
    let (tell, answer) = oneshot::channel();
    {
        let mut first = pin!(flights.load("a", || told(answer)));
        let mut second = pin!(flights.load("a", never));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    }
    assert!(tell.is_closed());
    assert!(flights.is_empty());
}

#[test]
fn a_panic_reaches_the_driver_and_the_others_load_themselves() {
    let flights = Flights::new();
    let (tell, answer) = oneshot::channel();
    let mut first = Box::pin(flights.load("a", || async {
        let _ = answer.await;
        std::panic::resume_unwind(Box::new("broken"))
    }));
    let mut second = pin!(flights.load("a", || async { Ok(2) }));
    let mut third = pin!(flights.load("a", || async { Ok(3) }));
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
    tell.send(Ok::<u32, String>(0)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| poll(first.as_mut()))).is_err());
    assert_eq!(poll(third.as_mut()), Poll::Ready(Ok(3)));
    assert_eq!(poll(second.as_mut()), Poll::Ready(Ok(2)));
    assert!(flights.is_empty());
}

#[test]
fn a_load_that_panics_before_it_begins_is_no_different() {
    let flights = Flights::new();
    let mut first = Box::pin(flights.load("a", || -> std::future::Ready<Result<u32, String>> {
        std::panic::resume_unwind(Box::new("broken"))
    }));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(first.as_mut()))).is_err());
    assert!(flights.is_empty());
}

#[test]
fn who_forgets_a_flight_does_not_get_what_was_read_before() {
    let flights = Flights::new();
    let (tell, answer) = oneshot::channel();
    let mut old = pin!(flights.load("a", || told(answer)));
    assert!(poll(old.as_mut()).is_pending());
    flights.forget(&"a");
    let (_stay, wait) = oneshot::channel();
    let mut fresh = pin!(flights.load("a", || told(wait)));
    assert!(poll(fresh.as_mut()).is_pending());
    tell.send(Ok(1)).unwrap();
    assert_eq!(poll(old.as_mut()), Poll::Ready(Ok(1)));
    assert_eq!(flights.len(), 1, "the end of the old flight leaves the new one alone");
}

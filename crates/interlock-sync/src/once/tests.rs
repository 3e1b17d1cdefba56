//! Once, polled by hand and on a real runtime.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use super::*;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_who_come_at_once_get_the_same_and_it_is_made_once() {
    let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..100)
        .map(|index| {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let (cell, made) = &*shared;
                *cell
                    .get_or_init(|| async {
                        made.fetch_add(1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                        index
                    })
                    .await
            })
        })
        .collect();
    let mut values = Vec::new();
    for task in tasks {
        values.push(task.await.unwrap());
    }
    assert!(values.iter().all(|value| Some(value) == shared.0.get()));
    assert_eq!(shared.1.load(Ordering::SeqCst), 1);
}

#[test]
fn a_failure_is_not_kept_and_the_next_in_the_queue_tries() {
    let cell = Once::new();
    let (tell, fail) = tokio::sync::oneshot::channel::<&str>();
    let mut first = pin!(cell.get_or_try_init(|| async { Err(fail.await.unwrap()) }));
    let mut second = pin!(cell.get_or_try_init(|| async { Ok::<_, &str>(2) }));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    tell.send("down").unwrap();
    assert_eq!(poll(first.as_mut()), Poll::Ready(Err("down")));
    assert_eq!(poll(second.as_mut()), Poll::Ready(Ok(&2)));
    assert_eq!(cell.get(), Some(&2));
}

#[test]
fn an_attempt_that_is_cancelled_or_panics_passes_on() {
    let cell = Once::new();
    let mut cancelled = Box::pin(cell.get_or_init(std::future::pending));
    let mut panics = Box::pin(cell.get_or_init(|| async { std::panic::resume_unwind(Box::new(())) }));
    let mut last = pin!(cell.get_or_try_init(|| async { Ok::<_, Infallible>(3) }));
    assert!(poll(cancelled.as_mut()).is_pending());
    assert!(poll(panics.as_mut()).is_pending());
    assert!(poll(last.as_mut()).is_pending());
    drop(cancelled);
    let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(panics.as_mut()).is_ready()));
    assert!(polled.is_err());
    assert_eq!(poll(last.as_mut()), Poll::Ready(Ok(&3)));
}

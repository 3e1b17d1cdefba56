//! Futures driven by hand.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

/// Polls a future once.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls a future at most so often, letting tasks and time go on in between, and drops it if it is not done then.
pub(crate) async fn poll_at_most<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = Box::pin(future);
    for _ in 0..times {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return Some(output);
        }
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    None
}

/// Lets all tasks go on until none can without time passing.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

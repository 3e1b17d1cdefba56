//! Two futures, and the first that is done.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Which of two was done first.
pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// Waits for the first of two and drops the other. The left one is asked first, so it wins if both are done.
pub(crate) async fn race<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| match left.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(First::Left(output)),
        Poll::Pending => right.as_mut().poll(cx).map(First::Right),
    })
    .await
}

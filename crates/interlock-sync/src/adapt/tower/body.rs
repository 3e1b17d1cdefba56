//! A response's body that keeps its request in flight.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body, Frame, SizeHint};

use crate::adapt::Held;

/// The body of a response, and with it the place in flight of its request: given back when the body has ended or is dropped.
pub struct HeldBody<B> {
    // Before the place, so that it is dropped before the place is given back.
    body: Pin<Box<B>>,
    held: Option<Held>,
}

impl<B> HeldBody<B> {
    pub(super) fn new(body: B, held: Option<Held>) -> Self {
        Self { body: Box::pin(body), held }
    }
}

impl<B: Body> Body for HeldBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = ready!(self.body.as_mut().poll_frame(context));
        // Whoever keeps the body for longer than its last frame keeps nobody waiting by that.
        if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
            self.held = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B: Default> Default for HeldBody<B> {
    fn default() -> Self {
        Self::new(B::default(), None)
    }
}

impl<B> fmt::Debug for HeldBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBody").field("is_in_flight", &self.held.is_some()).finish_non_exhaustive()
    }
}

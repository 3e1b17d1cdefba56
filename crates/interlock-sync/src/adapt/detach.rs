//! A future that goes on when nobody waits for it any more.
//!
//! It runs where it is awaited, and moves to a task of its own only if it is dropped before its end. A task from the start would go on as
//! well, but it would lose what belongs to the task of the request: rmcp, for one, keeps there to which request a question to the client
//! belongs.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{runtime::Handle, sync::oneshot};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A future that is not cut off by being dropped.
#[must_use = "a future does nothing unless it is awaited"]
pub(super) struct Detached<T: Send + 'static> {
    /// Gone when it has ended, and while it is polled: one that panicked must not be polled again.
    future: Option<Boxed<T>>,
    runtime: Handle,
    /// Its end tells the future that it is on its own.
    _listening: oneshot::Sender<Infallible>,
}

/// Whether whoever called still wants the answer. Ready, and from then on always, when it does not.
pub(super) struct GivenUp {
    listening: oneshot::Receiver<Infallible>,
    cancelled: Boxed<()>,
    is_so: bool,
}

impl<T: Send + 'static> Detached<T> {
    /// Makes a future of something that wants to know when it is given up: because this is dropped, or because `cancelled` is ready.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub(super) fn new<F>(
        cancelled: impl Future<Output = ()> + Send + 'static,
        make: impl FnOnce(GivenUp) -> F,
    ) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (sender, listening) = oneshot::channel();
        let given_up = GivenUp { listening, cancelled: Box::pin(cancelled), is_so: false };
        Self { future: Some(Box::pin(make(given_up))), runtime: Handle::current(), _listening: sender }
    }
}

impl<T: Send + 'static> Future for Detached<T> {
    type Output = T;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(mut future) = self.future.take() else { panic!("polled again after it was ready") };
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.future = Some(future);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Detached<T> {
    fn drop(&mut self) {
        if let Some(future) = self.future.take() {
            // If the runtime is about to end, it drops the future, and with it all that it holds.
            self.runtime.spawn(async move { drop(future.await) });
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Detached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detached").finish_non_exhaustive()
    }
}

impl GivenUp {
    /// Whether it is so now.
    pub(super) async fn is_so(&mut self) -> bool {
        std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *self).poll(context).is_ready())).await
    }
}

impl Future for GivenUp {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        // Each is polled until one is ready and never after that.
        this.is_so = this.is_so
            || Pin::new(&mut this.listening).poll(context).is_ready()
            || this.cancelled.as_mut().poll(context).is_ready();
        if this.is_so { Poll::Ready(()) } else { Poll::Pending }
    }
}

//! A question to a store whose answer is heard also if whoever asked goes away.
//!
//! A future that is dropped while its request is on the way leaves something granted that nobody knows of: a lease, a reservation. So the
//! question is asked to its end, in a task of its own, and what it granted is given back. Asking the store to give it back at once would
//! not do: on another connection that can overtake the request.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A question, and what to do with an answer that nobody waits for. It runs where it is awaited.
pub(crate) struct Heard<T, G>
where
    T: Send + 'static,
    G: GiveBack<T>,
{
    /// Gone when it has ended, and while it is polled: one that panicked must not be polled again.
    asking: Option<Boxed<T>>,
    give_back: Option<G>,
    /// Until then nothing was sent, and dropping it is enough.
    is_polled: bool,
}

/// Gives back what an answer granted.
pub(crate) trait GiveBack<T>: Send + Unpin + 'static {
    /// Gives it back, and does not fail: what is not given back runs out by itself.
    fn give_back(self, answer: T) -> impl Future<Output = ()> + Send;
}

impl<T, G> Heard<T, G>
where
    T: Send + 'static,
    G: GiveBack<T>,
{
    pub(crate) fn new(asking: impl Future<Output = T> + Send + 'static, give_back: G) -> Self {
        Self { asking: Some(Box::pin(asking)), give_back: Some(give_back), is_polled: false }
    }
}

impl<T, G> Future for Heard<T, G>
where
    T: Send + 'static,
    G: GiveBack<T>,
{
    type Output = T;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(mut asking) = self.asking.take() else { panic!("polled again after it was ready") };
        self.is_polled = true;
        let polled = asking.as_mut().poll(context);
        if polled.is_pending() {
            self.asking = Some(asking);
        }
        polled
    }
}

impl<T, G> Drop for Heard<T, G>
where
    T: Send + 'static,
    G: GiveBack<T>,
{
    fn drop(&mut self) {
        let (Some(asking), Some(give_back), true) =
            (self.asking.take(), self.give_back.take(), self.is_polled)
        else {
            return;
        };
        // Without a runtime, or when it is about to end, what was granted runs out by itself.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { give_back.give_back(asking.await).await });
        }
    }
}

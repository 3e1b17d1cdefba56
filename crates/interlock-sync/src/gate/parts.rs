//! The parts that a start-up has opened so far, each with the way to close it.

use std::{
    any::Any,
    fmt,
    future::{Future, poll_fn},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use tokio::{runtime::Handle, time::timeout};

use super::{BoxError, CloseFailure, OpenError};
use crate::prim::{Arc, Mutex, MutexGuard, PoisonError};

/// Where a start-up says what it has opened, so that it can be closed again. [`start_all`](super::start_all) hands it out; clones
/// are the same list.
#[derive(Debug, Clone)]
pub struct Parts {
    shared: Arc<Shared>,
}

/// What closing a part answers: nothing, or whether it went well.
pub trait CloseAnswer {
    /// Whether it went well.
    ///
    /// # Errors
    ///
    /// What the part said.
    fn into_result(self) -> Result<(), BoxError>;
}

#[derive(Debug)]
struct Shared {
    list: Mutex<List>,
    /// How long a part may take to close when nobody says otherwise.
    patience: Duration,
    runtime: Handle,
}

#[derive(Debug, Default)]
struct List {
    closers: Vec<Closer>,
    /// The closing has begun: nothing is added any more.
    ended: bool,
}

/// What is to be closed, in the order of opening.
pub(super) struct Closers(Vec<Closer>);

/// How to close one part. The future does nothing until then.
struct Closer {
    part: String,
    close: Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>,
}

impl Parts {
    pub(super) fn new(patience: Duration) -> Self {
        Self { shared: Arc::new(Shared { list: Mutex::default(), patience, runtime: Handle::current() }) }
    }

    /// Opens a part and notes how to close it. The handle goes to the caller, a clone of it to `close`.
    ///
    /// Between the moment when `opening` is ready and the moment when the part is in the list there is no point at which this can
    /// be cancelled. Several can be opened side by side, with `tokio::try_join!`; they are closed in the reverse order of being
    /// ready.
    ///
    /// # Errors
    ///
    /// [`OpenError`], with the name of the part, if it failed or panicked; or if it was ready only when the others were being
    /// closed, and then it is closed as well, in the background.
    ///
    /// # Cancel safety
    ///
    /// Drops `opening`, which has to clean up after itself like any future.
    pub async fn open<T, E, C>(
        &self,
        part: impl Into<String>,
        opening: impl Future<Output = Result<T, E>>,
        close: impl FnOnce(T) -> C + Send + 'static,
    ) -> Result<T, OpenError>
    where
        T: Clone + Send + 'static,
        E: Into<BoxError>,
        C: Future<Output: CloseAnswer> + Send + 'static,
    {
        let part = part.into();
        match catch(opening).await {
            Ok(Ok(handle)) => {
                let theirs = handle.clone();
                self.on_close(part, async move { close(theirs).await })?;
                Ok(handle)
            }
            Ok(Err(error)) => Err(OpenError::Failed { part, source: error.into() }),
            Err(message) => Err(OpenError::Panicked { part, message }),
        }
    }

    /// Notes how to close something that is open already. The future is polled only then.
    ///
    /// # Errors
    ///
    /// [`OpenError::TooLate`] if the others are being closed; the part is then closed as well, in the background.
    pub fn on_close<C>(&self, part: impl Into<String>, close: C) -> Result<(), OpenError>
    where
        C: Future<Output: CloseAnswer> + Send + 'static,
    {
        let part = part.into();
        let closer = Closer { part, close: Box::pin(async move { close.await.into_result() }) };
        match self.add(closer) {
            Ok(()) => Ok(()),
            Err(closer) => {
                let part = closer.part.clone();
                self.shared.runtime.spawn(closer.run(self.shared.patience));
                Err(OpenError::TooLate { part })
            }
        }
    }

    /// Adds to the list, or hands back what comes too late. The test and the adding are under one lock, so nothing is added behind
    /// the back of the closing.
    fn add(&self, closer: Closer) -> Result<(), Closer> {
        let mut list = self.list();
        if list.ended {
            return Err(closer);
        }
        list.closers.push(closer);
        Ok(())
    }

    /// Hands out all that is to be closed, and lets nothing be added any more.
    pub(super) fn end(&self) -> Closers {
        let mut list = self.list();
        list.ended = true;
        Closers(mem::take(&mut list.closers))
    }

    pub(super) fn patience(&self) -> Duration {
        self.shared.patience
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.shared.runtime
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.shared.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Closers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes all, the last one first. One that fails, panics or takes too long does not keep the others from being closed.
    pub(super) async fn close(self, within: Duration) -> Vec<CloseFailure> {
        let mut failures = Vec::new();
        for closer in self.0.into_iter().rev() {
            failures.extend(closer.run(within).await.err());
        }
        failures
    }
}

impl Closer {
    async fn run(self, within: Duration) -> Result<(), CloseFailure> {
        let part = self.part;
        match timeout(within, catch(self.close)).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(source))) => Err(CloseFailure::Failed { part, source }),
            Ok(Err(message)) => Err(CloseFailure::Panicked { part, message }),
            Err(_) => Err(CloseFailure::TookTooLong { part, within }),
        }
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Closer").field(&self.part).finish()
    }
}

impl CloseAnswer for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> CloseAnswer for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// Awaits a future and turns its panic into a value. It is not touched afterwards, so nobody sees what the panic broke.
pub(super) async fn catch<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(said(panic.as_ref()))),
    })
    .await
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

//! A start-up that leaves nothing behind when it fails half way, and the closing of what it started.

use std::{future::Future, ops::Deref, time::Duration};

use tokio::task::JoinHandle;

use super::{
    BoxError, CloseFailure, Closing, Gate, Parts, StartError,
    parts::{Closers, catch},
};

/// Opens the parts of a server. If that fails, closes those that had opened, the last one first, and returns the error only then.
///
/// `open` gets the list of [`Parts`] and opens each with [`Parts::open`], in order or side by side, so that a later part is made
/// with the handles of the earlier ones. What it returns is in the [`Started`] server. It has failed when it returns an error,
/// when it panics, and when the future of `start_all` is dropped before it is ready.
///
/// Closing always shuts the gate first and waits for the calls inside, up to `patience`; then each part has as long again. It
/// runs in a task of its own, so that whoever gives up waiting for it does not stop it half way.
///
/// # Errors
///
/// [`StartError`], with how the closing went. The gate is closed then; a second attempt needs a new one.
///
/// # Panics
///
/// The future panics when it is polled outside a tokio runtime with a timer.
///
/// # Cancel safety
///
/// When it is dropped half way, the part that was being opened is dropped and the others are closed, in the background.
///
/// # Examples
///
/// ```
/// # use interlock_sync::gate::Gate;
/// # #[derive(Clone)] struct Store;
/// # impl Store {
/// #     async fn open() -> std::io::Result<Self> { Ok(Self) }
/// #     async fn close(self) -> std::io::Result<()> { Ok(()) }
/// # }
/// # #[derive(Clone)] struct Listener(Store, Gate);
/// # impl Listener {
/// #     async fn bind(store: Store, gate: Gate) -> std::io::Result<Self> { Ok(Self(store, gate)) }
/// #     async fn stop(self) {}
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use interlock_sync::gate::{OpenError, start_all};
///
/// let gate = Gate::new();
/// let calls = gate.clone();
/// let server = start_all(gate, Duration::from_secs(5), |parts| async move {
///     let store = parts.open("the store", Store::open(), Store::close).await?;
///     // If this fails, the store is closed before `start_all` returns.
///     let listener = parts.open("the listener", Listener::bind(store.clone(), calls), Listener::stop).await?;
///     Ok::<_, OpenError>((store, listener))
/// })
/// .await?;
///
/// let (_store, _listener) = &*server;
/// let closing = server.close(Duration::from_secs(5)).await;
/// assert!(closing.is_clean());
/// # Ok(())
/// # }
/// ```
pub async fn start_all<T, E, F>(
    gate: Gate,
    patience: Duration,
    open: impl FnOnce(Parts) -> F,
) -> Result<Started<T>, StartError>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    let opened = Opened { gate, parts: Parts::new(patience) };
    let parts = opened.parts.clone();
    match catch(async { open(parts).await }).await {
        Ok(Ok(value)) => Ok(Started { value, opened }),
        Ok(Err(error)) => {
            Err(StartError::Failed { source: error.into(), closing: opened.close(patience).await })
        }
        Err(message) => Err(StartError::Panicked { message, closing: opened.close(patience).await }),
    }
}

/// A server whose parts are all open: what its start-up returned, and the way to close it.
///
/// Dropped without [`close`](Self::close), it closes in the background, with the patience that was given to [`start_all`]; if the
/// runtime ends first, the parts are dropped.
#[derive(Debug)]
#[must_use = "everything is closed when this is dropped"]
pub struct Started<T> {
    value: T,
    opened: Opened,
}

impl<T> Started<T> {
    /// The gate that [`start_all`] was given.
    pub fn gate(&self) -> &Gate {
        &self.opened.gate
    }

    /// Closes the gate, waits for the calls inside, but no longer than `within`, and then closes the parts, the last one first.
    ///
    /// Each part has `within` again, so that calls that stay do not use up the time of the parts; one that takes longer is given
    /// up and named. The value is dropped last.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only stops the waiting; the closing goes on in its task.
    pub async fn close(self, within: Duration) -> Closing {
        let Self { value, opened } = self;
        let closing = opened.close(within).await;
        drop(value);
        closing
    }
}

impl<T> Deref for Started<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// What has been opened, and is closed when this is dropped.
#[derive(Debug)]
struct Opened {
    gate: Gate,
    parts: Parts,
}

impl Opened {
    async fn close(self, within: Duration) -> Closing {
        let gate = self.gate.clone();
        let task = self.close_in_a_task(self.parts.end(), within);
        // Which finds nothing left to close.
        drop(self);
        let cut_short = |_| Closing { left: gate.inside(), failures: vec![CloseFailure::RuntimeEnded] };
        task.await.unwrap_or_else(cut_short)
    }

    fn close_in_a_task(&self, closers: Closers, within: Duration) -> JoinHandle<Closing> {
        let gate = self.gate.clone();
        gate.shut();
        self.parts.runtime().spawn(async move {
            let left = gate.close(within).await;
            Closing { left, failures: closers.close(within).await }
        })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.gate.shut();
        let closers = self.parts.end();
        if !closers.is_empty() {
            // Nobody waits for this task; it is there so that the parts are closed at all.
            drop(self.close_in_a_task(closers, self.parts.patience()));
        }
    }
}

#[cfg(test)]
mod tests;

//! What is in doubt, listed and settled by somebody who knows.

use std::{sync::Arc, time::Duration};

use crate::{
    retry::{Retry, retry_store},
    store::{Doubt, Ending, Key, Store, StoreError},
};

/// For how long it is told that an effect did not happen, before its key is free: no longer than every store can measure.
const UNTIL_FREE: Duration = Duration::from_millis(2);

/// What the effects of a store are in doubt about, for the person or the program that finds out how they ended.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use interlock_sync::{
///     idempotency::{Doubts, Failure, Idempotency, Ran, Resolution},
///     memory::MemoryStore,
///     store::{Fingerprint, Key, Store},
/// };
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
/// let (once, doubts) = (Idempotency::new(Arc::clone(&store)), Doubts::new(store));
/// let (order, request) = (Key::new("order-1")?, Fingerprint::of("charge 25"));
///
/// let lost = once.run(&order, request, async |_| Err(Failure::Unknown)).await?;
/// assert!(matches!(lost, Ran::InDoubt { .. }));
/// # tokio::task::yield_now().await;
///
/// let found = doubts.list("order-", None, 10).await?;
/// // … ask the provider about each. This one was never charged:
/// assert!(doubts.settle(&found[0], &Resolution::NeverHappened).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Doubts {
    store: Arc<dyn Store>,
    keep: Duration,
    retry: Retry,
}

/// What became of an effect that was in doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// It happened, and this was its answer, as whoever ran it would have stored it.
    Happened(Vec<u8>),
    /// It happened, and its answer is lost. A call that comes again is not run, and is told to look at the state.
    HappenedUntold,
    /// It did not happen: its key is free again.
    NeverHappened,
}

impl Doubts {
    /// What is in doubt in a store. What was settled is remembered for 24 hours.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, keep: Duration::from_secs(24 * 60 * 60), retry: Retry::brief() }
    }

    /// How long the answer of what happened is told again. Longer than any client sends its request again.
    #[must_use]
    pub fn keep(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// At most `limit` effects that are in doubt, of keys that start with `prefix`, in order of their keys, after `after`. See
    /// [`Store::in_doubt`] for what that costs.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It can be asked again.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<Doubt>, StoreError> {
        retry_store(&self.retry, || self.store.in_doubt(prefix, after, limit)).await
    }

    /// Settles a doubt; `false` if it was settled otherwise, or is forgotten.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It can be asked again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it is settled or not, and can be settled again the same way.
    pub async fn settle(&self, doubt: &Doubt, resolution: &Resolution) -> Result<bool, StoreError> {
        let (ending, keep) = resolution.ending(self.keep);
        retry_store(&self.retry, || self.store.finish(&doubt.key, doubt.fence, &ending, keep)).await
    }
}

impl Resolution {
    /// How the effect ended, and for how long that is told.
    pub(crate) fn ending(&self, keep: Duration) -> (Ending, Duration) {
        match self {
            Self::Happened(answer) => (Ending::Completed(answer.clone()), keep),
            // No answer is a lone dash: one that cannot be read is told as such.
            Self::HappenedUntold => (Ending::Completed(b"-".to_vec()), keep),
            Self::NeverHappened => (Ending::Failed(Vec::new()), UNTIL_FREE),
        }
    }
}

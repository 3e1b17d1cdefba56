//! From the reservation to the ending: the part of an attempt in which the effect runs.

use std::{
    future::{Future, pending},
    sync::Arc,
    time::Duration,
};

use tokio::{runtime::Handle, time::sleep};

use super::{Failure, Idempotency, Kept, Ran};
use crate::{
    events,
    race::{First, race},
    retry::retry_store,
    store::{Ending, Fence, Key, StoreError},
};

/// How long a failure that may be tried again is told: no longer than every store can measure.
const BRIEFLY: Duration = Duration::from_millis(1);

/// An attempt that has its reservation.
pub(super) struct Attempted<'a> {
    pub(super) once: &'a Idempotency,
    pub(super) key: &'a Key,
    pub(super) fence: Fence,
}

impl Attempted<'_> {
    /// Runs the effect, keeping the attempt alive, and stores its ending.
    pub(super) async fn perform<R>(self, effect: impl FnOnce() -> R) -> Ran
    where
        R: Future<Output = Result<Vec<u8>, Failure>>,
    {
        // Dropped by a panic of the effect, or with the whole future: nobody will say how the effect ended.
        let doubt = Doubt { attempted: &self, is_over: false };
        let outcome = match race(effect(), self.keep_alive()).await {
            First::Left(outcome) => outcome,
            First::Right(never) => match never {},
        };
        doubt.settled(!matches!(outcome, Err(Failure::Unknown)));
        match outcome {
            Ok(answer) => self.finish(Ending::Completed(answer), self.once.keep).await,
            Err(Failure::Final(answer)) => self.finish(Ending::Failed(answer), self.once.keep).await,
            Err(Failure::Retryable(answer)) => self.finish(Ending::Failed(answer), BRIEFLY).await,
            Err(Failure::Unknown) => Ran::InDoubt { fence: self.fence },
        }
    }

    /// Gives a sign of life at every third of the attempt's time. If the store says that it is too late, the effect goes on all the same:
    /// nobody else runs what was dispatched, and its ending can still be stored.
    async fn keep_alive(&self) -> Never {
        let ttl = self.once.ttl;
        let mut pause = ttl / 3;
        loop {
            sleep(pause).await;
            match race(self.dispatch(), sleep(ttl / 3)).await {
                First::Left(Ok(true)) => pause = ttl / 3,
                First::Left(Ok(false)) => return pending().await,
                First::Left(Err(_)) | First::Right(()) => pause = ttl / 12,
            }
        }
    }

    fn dispatch(&self) -> crate::store::Reply<'_, bool> {
        self.once.store.dispatch(self.key, self.fence, self.once.ttl)
    }

    /// Stores the ending in a task of its own, because it is known now and must not be lost with whoever waits here.
    async fn finish(&self, ending: Ending, keep: Duration) -> Ran {
        let ending = Arc::new(ending);
        let (store, retry) = (Arc::clone(&self.once.store), self.once.retry.clone());
        let (key, fence, stored) = (self.key.clone(), self.fence, Arc::clone(&ending));
        let storing =
            tokio::spawn(
                async move { retry_store(&retry, || store.finish(&key, fence, &stored, keep)).await },
            );
        let kept = match storing.await {
            Ok(Ok(true)) => Kept::Yes,
            Ok(Ok(false)) => Kept::No { error: None },
            Ok(Err(error)) => Kept::No { error: Some(error) },
            Err(ended) => {
                Kept::No { error: Some(StoreError::unavailable("the task that stores the ending", ended)) }
            }
        };
        Ran::Done { ending: Arc::unwrap_or_clone(ending), kept }
    }
}

/// An effect of which nobody may ever say how it ended. Dropped without a word, its key is in doubt at once, and not only when the attempt's
/// time is up.
struct Doubt<'a> {
    attempted: &'a Attempted<'a>,
    is_over: bool,
}

impl Doubt<'_> {
    fn settled(mut self, is_over: bool) {
        self.is_over = is_over;
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        let Attempted { once, key, fence } = *self.attempted;
        if self.is_over {
            return;
        }
        events::in_doubt(key.as_str(), fence.0);
        if let Ok(runtime) = Handle::try_current() {
            let (store, retry, key) = (Arc::clone(&once.store), once.retry.clone(), key.clone());
            runtime.spawn(async move {
                // An attempt that was dispatched and has no time left. If the store stays away, its time runs out by itself.
                let _ = retry_store(&retry, || store.dispatch(&key, fence, Duration::ZERO)).await;
            });
        }
    }
}

/// What does not come to pass.
enum Never {}

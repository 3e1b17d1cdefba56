//! Idempotency for many processes: what is reserved, and who waits.

use std::{future::Future, sync::Arc, time::Duration};

use super::{
    EffectContext, Failure, Ran, derive,
    perform::Attempted,
    reserve::{Reservation, Reserved},
};
use crate::{
    heard::Heard,
    retry::{Polling, Retry, retry_store},
    store::{Attempt, Begun, Ending, Fence, Fingerprint, Key, OpId, Store, StoreError},
};

/// Effects that happen once per key, for all processes that use one store. See the [module](crate::idempotency) for what that means.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use std::sync::Arc;
/// use interlock_sync::{
///     idempotency::{Idempotency, Ran},
///     memory::MemoryStore,
///     store::{Ending, Fingerprint, Key},
/// };
///
/// let once = Idempotency::new(Arc::new(MemoryStore::default())).purpose("charge");
/// let order = Key::new("order-1")?;
/// let charge = async |key: &str| format!("charged under {key}").into_bytes();
///
/// for _ in 0..2 {
///     let request = Fingerprint::of_parts(["charge", "alice", "10"]);
///     let ran = once.run(&order, request, async |effect| Ok(charge(effect.provider_key()).await)).await?;
///     let Some(Ending::Completed(answer)) = ran.ending() else { unreachable!() };
///     assert!(answer.starts_with(b"charged under "));
/// }
/// let other = Fingerprint::of_parts(["charge", "alice", "11"]);
/// let ran = once.run(&order, other, async |_| unreachable!("it does not run")).await?;
/// assert!(matches!(ran, Ran::Mismatch));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Idempotency {
    pub(super) store: Arc<dyn Store>,
    pub(super) ttl: Duration,
    pub(super) keep: Duration,
    pub(super) retry: Retry,
    wait: Duration,
    purpose: Arc<str>,
}

impl Idempotency {
    /// Effects once per key: an attempt counts as vanished after 30 seconds without a sign of life, endings are kept for 24 hours, and
    /// duplicates wait for 30 seconds.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let thirty = Duration::from_secs(30);
        let day = Duration::from_secs(24 * 60 * 60);
        Self { store, ttl: thirty, keep: day, retry: Retry::brief(), wait: thirty, purpose: "".into() }
    }

    /// After how long without a sign of life an attempt counts as vanished; signs are given at every third of it. Between 30 ms and a day.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl: ttl.clamp(Duration::from_millis(30), Duration::from_secs(24 * 60 * 60)), ..self }
    }

    /// How long an ending is told again, and a key is in doubt. Longer than any client sends its request again.
    #[must_use]
    pub fn keep(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// How long a duplicate waits for the first.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// How often the store is asked again when it does not answer.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// What the effects are, such as `charge`: a part of the provider key, so that two effects for one idempotency key do not look like one to
    /// the provider.
    #[must_use]
    pub fn purpose(self, purpose: &str) -> Self {
        Self { purpose: purpose.into(), ..self }
    }

    /// The key that the effect for an idempotency key shows to its provider.
    #[must_use]
    pub fn provider_key(&self, key: &Key) -> String {
        derive::provider_key(&self.purpose, key.as_str())
    }

    /// The id under which the effect for an idempotency key does one of its steps; see [`EffectContext::op_id`].
    #[must_use]
    pub fn op_id(&self, key: &Key, step: &str) -> OpId {
        derive::op_id(&self.purpose, key.as_str(), step)
    }

    /// Does something once: begins the attempt, marks it as dispatched, runs the effect, and stores how it ended.
    ///
    /// The effect is run at most once by this call, and only if the store has said that this attempt is the one. While it runs, the attempt
    /// is kept alive; an effect that blocks its thread for longer than the time to live keeps that from happening, and duplicates are then told
    /// that the key is in doubt until it ends.
    ///
    /// # Errors
    ///
    /// When the store could not be asked before the effect began: it did not run. If the lost answer was that to the dispatch, the key may be
    /// in doubt all the same. Once the effect ran, its ending is returned, and [`Kept`](super::Kept) says whether it could be stored.
    ///
    /// # Panics
    ///
    /// If the effect does; the key is then in doubt. Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before the effect began, the key is given back in the background. If it is dropped while the effect runs, the
    /// effect is cut off wherever it is, and the key is in doubt at once. Afterwards the ending is stored in the background. A call that may be
    /// cancelled, and should not leave doubt, runs this in a task of its own.
    pub async fn run<F, R>(&self, key: &Key, request: Fingerprint, effect: F) -> Result<Ran, StoreError>
    where
        F: FnOnce(EffectContext) -> R,
        R: Future<Output = Result<Vec<u8>, Failure>>,
    {
        let attempt = Attempt {
            key: key.clone(),
            fingerprint: request,
            owner: OpId::fresh(),
            ttl: self.ttl,
            keep: self.keep,
        };
        let mut polling = Polling::within(self.wait);
        loop {
            let reservation = Reservation {
                store: Arc::clone(&self.store),
                retry: self.retry.clone(),
                attempt: attempt.clone(),
            };
            let retry_after = match Heard::new(reservation.clone().reserve(), reservation).await? {
                Reserved::Dispatched { fence } => {
                    let attempted = Attempted { once: self, key, fence };
                    let context = EffectContext::new(&self.purpose, key.as_str(), fence);
                    return Ok(attempted.perform(|| effect(context)).await);
                }
                // Its time ran out, and somebody else may be at it by now: ask what became of it.
                Reserved::Lost => self.ttl,
                Reserved::Not(begun) => match begun {
                    // It is nobody else's, and was handed on above.
                    Begun::Reserved { .. } => self.ttl,
                    Begun::Running { retry_after } => retry_after,
                    Begun::Ended(stored) => return Ok(Ran::Replayed(stored.ending)),
                    Begun::Mismatch => return Ok(Ran::Mismatch),
                    Begun::InDoubt { fence } => return Ok(Ran::InDoubt { fence }),
                },
            };
            if !polling.pause(retry_after).await {
                return Ok(Ran::Running { retry_after: Some(retry_after) });
            }
        }
    }

    /// Settles what is in doubt, by somebody who knows how it ended; `false` if it was settled otherwise or forgotten.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It can be asked again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it is settled or not, and can be settled again the same way.
    pub async fn settle(&self, key: &Key, fence: Fence, ending: &Ending) -> Result<bool, StoreError> {
        retry_store(&self.retry, || self.store.finish(key, fence, ending, self.keep)).await
    }
}

//! The in-flight limit of many processes.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use tokio::{runtime::Handle, time::Instant};

use super::{Acquired, Full, FullReason, SharedPermit, keep_alive::Holding};
use crate::{
    events,
    retry::{Polling, Retry, retry_store},
    store::{Key, OpId, PermitAnswer, PermitRequest, Store, StoreError},
};

/// A limit of calls in flight per key, for all processes that use one store.
///
/// A permit is held for a time and renewed at every third of it by a task of this process, so a holder that works for long keeps
/// it, and one that died loses it when the time is up. Never are more permits of a key out than the limit, by the store's clock; a holder
/// that was cut off from the store for the whole time is told by [`SharedPermit::lost`], and may then be one too many until it stops.
///
/// Those who wait ask again and again, in no order. Where they are all in one process, put an [`InFlight`](super::InFlight) before it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use std::{num::NonZeroU32, sync::Arc};
/// use interlock_sync::{in_flight::SharedInFlight, memory::MemoryStore, store::Key};
///
/// let limit = SharedInFlight::new(Arc::new(MemoryStore::default()), NonZeroU32::MIN);
/// let caller = Key::new("alice")?;
/// let permit = limit.try_acquire(&caller).await?.granted().ok_or("nobody else is here")?;
/// assert!(limit.try_acquire(&caller).await?.granted().is_none());
/// assert!(permit.release().await?, "it was still held");
/// assert!(limit.try_acquire(&caller).await?.granted().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedInFlight {
    store: Arc<dyn Store>,
    limit: NonZeroU32,
    ttl: Duration,
    wait: Duration,
    retry: Retry,
}

impl SharedInFlight {
    /// A limit of so many permits per key, each held for 30 seconds unless it is renewed.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, limit: NonZeroU32) -> Self {
        let thirty = Duration::from_secs(30);
        Self { store, limit, ttl: thirty, wait: thirty, retry: Retry::brief() }
    }

    /// How long a permit is held unless it is renewed: after this time those of a crashed process come back. Between 30 ms and a day.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl: ttl.clamp(Duration::from_millis(30), Duration::from_secs(24 * 60 * 60)), ..self }
    }

    /// How long [`acquire`](Self::acquire) waits.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// How often the store is asked again when it does not answer.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// A permit, if one is there now.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. A permit that it may have granted all the same is given back in the background.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, a permit that it may have got is given back in the background; if that is overtaken by the request itself,
    /// it comes back after its time.
    pub async fn try_acquire(&self, key: &Key) -> Result<Acquired<SharedPermit>, StoreError> {
        let mut asking = Asking::new(self, key);
        let answer = asking.ask().await?;
        Ok(asking.admission(answer, FullReason::AllOut))
    }

    /// A permit, as soon as one is there and nobody else is quicker. Refused if there was none in time.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub async fn acquire(&self, key: &Key) -> Result<Acquired<SharedPermit>, StoreError> {
        events::waiting_for("permit", key.as_str(), self.wait_for(key)).await
    }

    async fn wait_for(&self, key: &Key) -> Result<Acquired<SharedPermit>, StoreError> {
        let mut asking = Asking::new(self, key);
        let mut polling = Polling::within(self.wait);
        loop {
            let answer = asking.ask().await?;
            if let PermitAnswer::Full { retry_after, .. } = answer
                && polling.pause(retry_after).await
            {
                continue;
            }
            return Ok(asking.admission(answer, FullReason::Deadline));
        }
    }
}

/// A wish on its way. While nobody knows what became of it, dropping it gives back what may have been granted.
struct Asking<'a> {
    limit: &'a SharedInFlight,
    request: PermitRequest,
    runtime: Handle,
    sent: Instant,
    may_hold: bool,
}

impl<'a> Asking<'a> {
    fn new(limit: &'a SharedInFlight, key: &Key) -> Self {
        let request = PermitRequest {
            key: key.clone(),
            holder: OpId::fresh(),
            limit: limit.limit.get(),
            ttl: limit.ttl,
        };
        Self { limit, request, runtime: Handle::current(), sent: Instant::now(), may_hold: false }
    }

    /// Asks, with the same holder each time, so that a lost answer costs no second permit.
    async fn ask(&mut self) -> Result<PermitAnswer, StoreError> {
        self.may_hold = true;
        self.sent = Instant::now();
        let answer =
            retry_store(&self.limit.retry, || self.limit.store.acquire_permit(&self.request)).await?;
        self.may_hold = matches!(answer, PermitAnswer::Granted { .. });
        Ok(answer)
    }

    fn admission(mut self, answer: PermitAnswer, reason: FullReason) -> Acquired<SharedPermit> {
        match answer {
            PermitAnswer::Granted { .. } => {
                self.may_hold = false;
                Acquired::Granted(self.holding().keep_alive(&self.runtime, self.sent))
            }
            PermitAnswer::Full { in_use, retry_after } => Acquired::Refused(Full {
                reason,
                in_use,
                limit: self.request.limit,
                retry_after: Some(retry_after),
            }),
        }
    }

    fn holding(&self) -> Holding {
        Holding {
            store: Arc::clone(&self.limit.store),
            key: self.request.key.clone(),
            holder: self.request.holder,
            ttl: self.limit.ttl,
            retry: self.limit.retry.clone(),
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.may_hold {
            let holding = self.holding();
            self.runtime.spawn(async move { holding.release().await });
        }
    }
}

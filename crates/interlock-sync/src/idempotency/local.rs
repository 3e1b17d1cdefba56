//! Idempotency for one process, without a store.

use std::{borrow::Borrow, fmt, future::Future, hash::Hash, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{
    EffectContext, Failure, Kept, Ran,
    local_table::{Found, Phase, Shard},
};
use crate::{
    clock::{Clock, MonotonicClock, Timestamp},
    prim::default_shards,
    race::{First, race},
    shards::Shards,
    store::{Ending, Fence, Fingerprint},
};

/// Effects that happen once per key, for one process. See the [module](crate::idempotency) for what that means.
///
/// It is as quick as a look into a map, and forgets everything with the process: a request that is sent again after a restart runs again.
/// Where that must not be, use [`Idempotency`](super::Idempotency), or a provider that knows the
/// [provider key](EffectContext::provider_key).
///
/// Each key is remembered for the time it is [kept](Self::keep), so as many are there as come in that time; those that are past it are
/// forgotten a few at a time, as others come.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use interlock_sync::{idempotency::{LocalIdempotency, Ran}, store::{Ending, Fingerprint}};
///
/// let once = LocalIdempotency::<String>::new();
/// let request = Fingerprint::of("mail to alice");
/// let sent = once.run("mail-1", request, async |_| Ok(b"sent".to_vec())).await;
/// assert!(matches!(sent, Ran::Done { .. }));
/// let again = once.run("mail-1", request, async |_| unreachable!("it does not run")).await;
/// assert_eq!(*again.ending().unwrap(), Ending::Completed(b"sent".to_vec()));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LocalIdempotency<K, C = MonotonicClock> {
    keep: Duration,
    wait: Duration,
    purpose: Arc<str>,
    clock: C,
    shards: Shards<Shard<K>>,
}

impl<K: Hash + Eq> LocalIdempotency<K> {
    /// Effects once per key: endings are kept for 24 hours, and duplicates wait for 30 seconds.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(MonotonicClock::default())
    }
}

impl<K: Hash + Eq> Default for LocalIdempotency<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq, C: Clock> LocalIdempotency<K, C> {
    /// The same by another clock.
    #[must_use]
    pub fn with_clock(clock: C) -> Self {
        let keep = Duration::from_secs(24 * 60 * 60);
        Self {
            keep,
            wait: Duration::from_secs(30),
            purpose: "".into(),
            clock,
            shards: Shards::new(default_shards()),
        }
    }

    /// How long an ending is told again, and a key is in doubt.
    #[must_use]
    pub fn keep(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// How long a duplicate waits for the first.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// What the effects are, such as `charge`: a part of the provider key.
    #[must_use]
    pub fn purpose(self, purpose: &str) -> Self {
        Self { purpose: purpose.into(), ..self }
    }

    /// Does something once, and says how it ended, now or before.
    ///
    /// # Panics
    ///
    /// If the effect does; the key is then in doubt. If it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped while the effect runs, the effect is cut off wherever it is, and the key is in doubt. A duplicate that waits
    /// can be dropped without a trace.
    pub async fn run<Q, F, R>(&self, key: &Q, request: Fingerprint, effect: F) -> Ran<Arc<Ending>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + AsRef<str> + ?Sized,
        F: FnOnce(EffectContext) -> R,
        R: Future<Output = Result<Vec<u8>, Failure>>,
    {
        let hash = self.shards.hash(key);
        let mut deadline = None;
        loop {
            let now = self.clock.now();
            let found = self.shards.enter(hash).begin(hash, key, request, now, self.shards.hasher());
            let mut changed = match found {
                Found::Free(fence) => {
                    let running = Running { once: self, hash, fence, is_over: false };
                    let context = EffectContext::new(&self.purpose, key.as_ref(), fence);
                    let outcome = effect(context).await;
                    return running.end(outcome);
                }
                Found::Running(changed) => changed,
                Found::Known(ran) => return ran,
            };
            let deadline = *deadline.get_or_insert_with(|| Instant::now().checked_add(self.wait));
            let is_up = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            if let First::Right(()) = race(changed.changed(), is_up).await {
                return Ran::Running { retry_after: None };
            }
        }
    }

    /// What is known of a key, without doing or waiting for anything; `None` if nothing is.
    #[must_use]
    pub fn look_up<Q>(&self, key: &Q, request: &Fingerprint) -> Option<Ran<Arc<Ending>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        let now = self.clock.now();
        self.shards.enter(hash).look_up(hash, key, request, now, self.shards.hasher())
    }

    /// Settles what is in doubt, by somebody who knows how it ended; `false` if it was settled otherwise or forgotten.
    pub fn settle<Q>(&self, key: &Q, fence: Fence, ending: Ending) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.settle_for(key, fence, ending, self.keep)
    }

    /// The same, to be told again for so long.
    pub(crate) fn settle_for<Q>(&self, key: &Q, fence: Fence, ending: Ending, keep: Duration) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        self.shards.enter(hash).settle(hash, key, fence, ending, self.clock.now(), keep)
    }

    /// All keys that are in doubt, each with its fence and since when, in no order. Every key that is remembered is looked at.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<(K, Fence, Timestamp)>
    where
        K: Clone,
    {
        let now = self.clock.now();
        let since = |forget: Timestamp| forget.before(self.keep);
        let mut doubts = Vec::new();
        for shard in self.shards.each() {
            doubts
                .extend(shard.in_doubt(now).map(|(key, fence, forget)| (key.clone(), fence, since(forget))));
        }
        doubts
    }

    /// How many keys are remembered, those past their time included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.each().map(|shard| shard.len()).sum()
    }

    /// Whether no key is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all keys that are past their time now. Nobody needs to call this while requests come.
    pub fn reclaim(&self) {
        let now = self.clock.now();
        self.shards.each().for_each(|mut shard| shard.reclaim(now, self.shards.hasher()));
    }
}

impl<K, C: fmt::Debug> fmt::Debug for LocalIdempotency<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalIdempotency")
            .field("keep", &self.keep)
            .field("wait", &self.wait)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

/// An effect under way. Dropped before its end, also by a panic, it leaves doubt.
struct Running<'a, K: Hash + Eq, C: Clock> {
    once: &'a LocalIdempotency<K, C>,
    hash: u64,
    fence: Fence,
    is_over: bool,
}

impl<K: Hash + Eq, C: Clock> Running<'_, K, C> {
    fn end(mut self, outcome: Result<Vec<u8>, Failure>) -> Ran<Arc<Ending>> {
        let ending = match outcome {
            Ok(answer) => Arc::new(Ending::Completed(answer)),
            Err(Failure::Final(answer)) => Arc::new(Ending::Failed(answer)),
            Err(Failure::Retryable(answer)) => {
                self.over(None);
                return Ran::Done { ending: Arc::new(Ending::Failed(answer)), kept: Kept::Yes };
            }
            // Dropping it leaves doubt.
            Err(Failure::Unknown) => return Ran::InDoubt { fence: self.fence },
        };
        self.over(Some(Phase::Ended(Arc::clone(&ending), self.forget())));
        Ran::Done { ending, kept: Kept::Yes }
    }

    fn over(&mut self, next: Option<Phase>) {
        self.is_over = true;
        let before = self.once.shards.enter(self.hash).end(self.hash, self.fence, next);
        // Those who wait are woken here, with the mutex free.
        drop(before);
    }

    fn forget(&self) -> Timestamp {
        self.once.clock.now().after(self.once.keep)
    }
}

impl<K: Hash + Eq, C: Clock> Drop for Running<'_, K, C> {
    fn drop(&mut self) {
        if !self.is_over {
            self.over(Some(Phase::InDoubt(self.forget())));
        }
    }
}

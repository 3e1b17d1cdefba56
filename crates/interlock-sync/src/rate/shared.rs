//! The rate limit of many processes.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use crate::store::{Key, Quota, Store, StoreError, Taken};

/// A rate limit per key, for all processes that use one store. One round trip; time is the store's.
///
/// See the [module](crate::rate) for what a quota promises. Idle keys are forgotten by the store. Keys are shared by everything on the store
/// that takes: two limits for one caller need two keys, for instance `search:alice` and `charge:alice`.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use std::{sync::Arc, time::Duration};
/// use interlock_sync::{memory::MemoryStore, rate::SharedRateLimit, store::{Key, Quota, Taken}};
///
/// let limit = SharedRateLimit::new(Arc::new(MemoryStore::default()), Quota::bucket(60, Duration::from_secs(60))?);
/// let caller = Key::new("search:alice")?;
/// assert_eq!(limit.take(&caller, 1).await?, Taken::Granted { remaining: 59 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SharedRateLimit {
    store: Arc<dyn Store>,
    usual: Quota,
    special: RwLock<HashMap<Key, Quota>>,
}

impl SharedRateLimit {
    /// A limit with the same quota for all keys.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, quota: Quota) -> Self {
        Self { store, usual: quota, special: RwLock::default() }
    }

    /// Gives a key its own quota, from now on, in this process: the store counts, and each process says against what.
    pub fn set_quota(&self, key: Key, quota: Quota) {
        self.special.write().unwrap_or_else(PoisonError::into_inner).insert(key, quota);
    }

    /// Gives a key the usual quota again; `false` if it had it.
    pub fn unset_quota(&self, key: &Key) -> bool {
        self.special.write().unwrap_or_else(PoisonError::into_inner).remove(key).is_some()
    }

    /// Tests a key's quota and counts in one step: `cost` units are taken, or none.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It is not asked again, because taking twice counts twice: if the error
    /// [is in doubt](StoreError::is_in_doubt), it may have been counted. Whether to let the call through is the caller's to say.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it was counted or not; never half, and the key expires as always.
    pub async fn take(&self, key: &Key, cost: u32) -> Result<Taken, StoreError> {
        let quota = self.quota_of(key);
        self.store.take(key, &quota, cost).await
    }

    fn quota_of(&self, key: &Key) -> Quota {
        let special = self.special.read().unwrap_or_else(PoisonError::into_inner);
        special.get(key).copied().unwrap_or(self.usual)
    }
}

//! A lease that is held: its heartbeat, and how it is lost.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, sync::watch, task::JoinHandle, time::Instant};

use crate::{
    events,
    store::{Fence, Key, Mutation, Store, StoreError},
};

/// A lease that was granted. It is renewed in the background until it is released, dropped or lost.
///
/// Dropping it stops the renewal and gives it back in the background if there is a runtime to do so; otherwise it runs out by itself.
#[derive(Debug)]
pub struct Lease {
    store: Arc<dyn Store>,
    key: Key,
    fence: Fence,
    /// Until when it is surely held, as far as is known; moved on by the heartbeat.
    held_until: watch::Receiver<Instant>,
    heartbeat: JoinHandle<()>,
    released: bool,
}

impl Lease {
    pub(super) fn start(store: Arc<dyn Store>, key: Key, fence: Fence, ttl: Duration, sent: Instant) -> Self {
        let (until, held_until) = watch::channel(sent + ttl);
        let heartbeat = tokio::spawn(beat(store.clone(), key.clone(), fence, ttl, until));
        Self { store, key, fence, held_until, heartbeat, released: false }
    }

    /// What is locked.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// What proves it. Hand it on to wherever the guarded work writes.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// Whether it is surely held at this moment, by this process' own clock. See the [module](super) for what that is worth.
    #[must_use]
    pub fn is_held(&self) -> bool {
        Instant::now() < *self.held_until.borrow()
    }

    /// A mutation that takes effect only while this lease is held.
    #[must_use]
    pub fn guard(&self, mutation: Mutation) -> Mutation {
        mutation.under(self.key.clone(), self.fence)
    }

    /// Waits until the lease is lost: for `select!` around work that should stop then. Pending as long as it is renewed.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost by dropping it.
    pub async fn lost(&self) {
        let mut held_until = self.held_until.clone();
        loop {
            let until = *held_until.borrow_and_update();
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                changed = held_until.changed() => if changed.is_err() {
                    // The heartbeat has ended, so nothing will move the moment on any more.
                    return tokio::time::sleep_until(until).await;
                },
            }
        }
    }

    /// Gives it back and waits for the store to say so; `false` if it had been lost before.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked. The lease then runs out by itself.
    pub async fn release(mut self) -> Result<bool, StoreError> {
        self.heartbeat.abort();
        self.released = true;
        self.store.release_lease(&self.key, self.fence).await
    }
}

#[cfg(test)]
impl Lease {
    /// What a stopped process looks like from outside.
    pub(super) fn heartbeat_stops(&self) {
        self.heartbeat.abort();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.heartbeat.abort();
        if self.released {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            let (store, key, fence) = (self.store.clone(), self.key.clone(), self.fence);
            runtime.spawn(async move {
                // If this fails it runs out by itself, which is what its time limit is for.
                let _ = store.release_lease(&key, fence).await;
            });
        }
    }
}

/// Renews at a third of the time, so that one lost answer does not lose the lease. Ends when the lease is lost: its moment is then set to
/// one that has passed.
async fn beat(store: Arc<dyn Store>, key: Key, fence: Fence, ttl: Duration, until: watch::Sender<Instant>) {
    let mut pause = ttl / 3;
    loop {
        tokio::time::sleep(pause).await;
        let sent = Instant::now();
        match store.renew_lease(&key, fence, ttl).await {
            Ok(true) => {
                until.send_replace(sent + ttl);
                pause = ttl / 3;
            }
            Ok(false) => {
                events::lost("lease", key.as_str(), Some(fence.0));
                until.send_replace(sent);
                return;
            }
            // It may have been renewed, or not: what was known before still holds, and we ask again soon.
            Err(_) if Instant::now() < *until.borrow() => pause = ttl / 12,
            Err(_) => {
                events::lost("lease", key.as_str(), Some(fence.0));
                return;
            }
        }
    }
}

//! The task that keeps a shared permit, and gives it back.
//!
//! One task does both, one after the other, so a renewal that is still on its way cannot be mistaken for a wish to keep it.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};

use super::SharedPermit;
use crate::{
    events,
    race::{First, race},
    retry::{Retry, retry_store},
    store::{Key, OpId, Store, StoreError},
};

/// Whether a permit was still held when it was given back.
pub(super) type Released = Result<bool, StoreError>;

/// A permit as the task knows it.
pub(super) struct Holding {
    pub(super) store: Arc<dyn Store>,
    pub(super) key: Key,
    pub(super) holder: OpId,
    pub(super) ttl: Duration,
    pub(super) retry: Retry,
}

impl Holding {
    /// Starts the task for a permit that was asked for at that moment.
    pub(super) fn keep_alive(self, runtime: &Handle, sent: Instant) -> SharedPermit {
        let (end, ended) = oneshot::channel();
        let (lose, lost) = watch::channel(false);
        let holder = self.holder;
        runtime.spawn(self.hold(sent, ended, lose));
        SharedPermit::new(holder, end, lost)
    }

    /// Renews until the permit is lost or its owner has done with it, and then gives it back. The owner may want to know about that, or have
    /// dropped its end.
    async fn hold(
        self,
        sent: Instant,
        mut ended: oneshot::Receiver<oneshot::Sender<Released>>,
        lose: watch::Sender<bool>,
    ) {
        let asks = match race(&mut ended, self.renew_until_lost(sent)).await {
            First::Left(end) => end,
            First::Right(()) => {
                events::lost("permit", self.key.as_str(), None);
                lose.send_replace(true);
                ended.await
            }
        };
        let released = self.release().await;
        if let Ok(asks) = asks {
            // Whoever asked may have gone in the meantime.
            let _ = asks.send(released);
        }
    }

    /// Returns when the store says that the permit is gone, or has said nothing until then. The time counts from the moment of sending,
    /// because the store may have begun it then.
    async fn renew_until_lost(&self, mut sent: Instant) {
        let mut pause = self.ttl / 3;
        loop {
            let until = sent + self.ttl;
            sleep_until(until.min(Instant::now() + pause)).await;
            let now = Instant::now();
            if now >= until {
                return;
            }
            let renewal = self.store.renew_permit(&self.key, &self.holder, self.ttl);
            match race(renewal, sleep_until(until)).await {
                First::Left(Ok(true)) => (sent, pause) = (now, self.ttl / 3),
                First::Left(Ok(false)) | First::Right(()) => return,
                First::Left(Err(_)) => pause = self.ttl / 12,
            }
        }
    }

    /// Gives it back. If the store stays away, the permit comes back by itself when its time is up.
    pub(super) async fn release(&self) -> Released {
        retry_store(&self.retry, || self.store.release_permit(&self.key, &self.holder)).await
    }
}

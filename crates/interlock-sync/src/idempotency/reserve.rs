//! The part of an attempt before its effect: the reservation, and the note that the effect is about to start.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    heard::GiveBack,
    retry::{Retry, retry_store},
    store::{Attempt, Begun, Fence, Settlement, Store, StoreError},
};

/// An attempt on its way to its reservation.
#[derive(Debug, Clone)]
pub(super) struct Reservation {
    pub(super) store: Arc<dyn Store>,
    pub(super) retry: Retry,
    pub(super) attempt: Attempt,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Reserved {
    /// It is the one, and the store knows that its effect is about to start.
    Dispatched { fence: Fence },
    /// It was the one, for too short a time.
    Lost,
    /// It is not the one.
    Not(Begun),
}

impl Reservation {
    pub(super) async fn reserve(self) -> Result<Reserved, StoreError> {
        let fence = match retry_store(&self.retry, || self.store.begin(&self.attempt)).await? {
            Begun::Reserved { fence } => fence,
            told => return Ok(Reserved::Not(told)),
        };
        let Attempt { key, ttl, .. } = &self.attempt;
        loop {
            let sent = Instant::now();
            let is_held = retry_store(&self.retry, || self.store.dispatch(key, fence, *ttl)).await?;
            // An answer that took longer than the attempt may live says nothing about now: the key may be in doubt for others already.
            if !is_held {
                return Ok(Reserved::Lost);
            }
            if sent.elapsed() < *ttl {
                return Ok(Reserved::Dispatched { fence });
            }
        }
    }
}

impl GiveBack<Result<Reserved, StoreError>> for Reservation {
    /// The effect never began, so the key is left to the next.
    async fn give_back(self, reserved: Result<Reserved, StoreError>) {
        if let Ok(Reserved::Dispatched { .. }) = reserved {
            let once = Some((self.attempt.key, None, Duration::ZERO));
            let never_ran = Settlement { once, ..Settlement::never_ran(self.attempt.owner) };
            // If this fails the key is in doubt when its time is up, as after a crash.
            let _ = retry_store(&self.retry, || self.store.settle(&never_ran)).await;
        }
    }
}

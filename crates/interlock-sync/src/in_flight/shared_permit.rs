//! A permit of the in-flight limit of many processes.

use tokio::sync::{oneshot, watch};

use super::keep_alive::Released;
use crate::store::{OpId, StoreError};

/// A permit of a [`SharedInFlight`](super::SharedInFlight), renewed in the background for as long as it lives.
///
/// Dropping it gives it back in the background; [`release`](Self::release) also waits for that.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub struct SharedPermit {
    holder: OpId,
    /// Closed by dropping it: then the task gives the permit back and tells nobody.
    end: oneshot::Sender<oneshot::Sender<Released>>,
    lost: watch::Receiver<bool>,
}

impl SharedPermit {
    pub(super) fn new(
        holder: OpId,
        end: oneshot::Sender<oneshot::Sender<Released>>,
        lost: watch::Receiver<bool>,
    ) -> Self {
        Self { holder, end, lost }
    }

    /// By which id the store knows the holder.
    #[must_use]
    pub fn holder(&self) -> OpId {
        self.holder
    }

    /// Whether the permit is known to be lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Waits until the permit is lost: a renewal said so, or none could be made in time. Then another call may run in its stead, and this one
    /// had better stop. Never returns while the permit is held.
    ///
    /// # Cancel safety
    ///
    /// It only looks.
    pub async fn lost(&self) {
        // The task that would tell is gone only with its runtime, and nobody renews then.
        let _ = self.lost.clone().wait_for(|lost| *lost).await;
    }

    /// Gives the permit back now; `false` if it had been lost.
    ///
    /// # Errors
    ///
    /// When the store could not be asked, several times. Then it comes back when its time is up.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the permit is given back in the background all the same.
    pub async fn release(self) -> Result<bool, StoreError> {
        let (ask, answer) = oneshot::channel();
        let gone =
            || StoreError::Unavailable { reason: "the runtime of the permit has ended".into(), source: None };
        self.end.send(ask).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

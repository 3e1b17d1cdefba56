//! Locks in a store for the length of some work: taken all together, in order of arrival, kept alive, and given back.
//!
//! They are those of [`Store::admit`], which has a line for every key on every store. Whoever waits asks again and again, because a store tells
//! nobody that it is their turn, and leaves the line when it stops asking.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, sleep},
};

use crate::{
    events,
    heard::{GiveBack, Heard},
    race::{First, race},
    retry::{Polling, Retry, retry_store},
    store::{Admission, Admitted, Fence, OpId, Settlement, Store, StoreError, Wish},
};

/// How long a place in line stands without a sign of life: some fifty questions, and what a dead waiter holds the others up for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Takes turns at the keys of a store.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    pub(crate) store: Arc<dyn Store>,
    /// How long a turn lasts without a sign of life; at every third of it there is one.
    pub(crate) ttl: Duration,
}

/// What is locked until this is dropped, or a process is cut off from the store for as long as a turn lasts.
#[derive(Debug)]
#[must_use = "what is locked is given back when this is dropped"]
pub(crate) struct Turn {
    /// Closed by dropping it, which is what the task that keeps the turn waits for.
    _end: oneshot::Sender<()>,
}

impl Turns {
    /// Locks all keys, each named once, as soon as nobody before this one wants them; `None` if that did not come to pass in time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the line in the background, and gives back what was granted meanwhile.
    pub(crate) async fn take(
        &self,
        mut locks: Vec<Wish>,
        deadline: Instant,
    ) -> Result<Option<Turn>, StoreError> {
        locks.sort_by(|one, other| one.key.cmp(&other.key));
        let call = OpId::fresh();
        let keys = locks.iter().map(|wish| wish.key.clone()).collect();
        let line = Line {
            store: self.store.clone(),
            end: Settlement { locks: keys, ..Settlement::never_ran(call) },
        };
        let admission = Admission { locks, patience: PATIENCE, ..Admission::new(call, self.ttl) };
        let mut standing = Standing(Some(line.clone()));
        let mut polling = Polling::often(deadline.saturating_duration_since(Instant::now()));
        loop {
            let (store, asked) = (self.store.clone(), admission.clone());
            let asking = async move { retry_store(&Retry::brief(), || store.admit(&asked)).await };
            let wait = match Heard::new(asking, line.clone()).await? {
                Admitted::Granted { fence } => {
                    standing.0 = None;
                    return Ok(Some(line.keep(fence, self.ttl)));
                }
                Admitted::Waits { retry_after, .. } => retry_after,
                other => {
                    let reason = format!("locks alone were asked for, and the store answered {other:?}");
                    return Err(StoreError::Broken { reason, source: None });
                }
            };
            if !polling.pause(wait).await {
                return Ok(None);
            }
        }
    }
}

/// A call in the line of its keys, or at their head.
#[derive(Debug, Clone)]
struct Line {
    store: Arc<dyn Store>,
    end: Settlement,
}

impl Line {
    /// Starts the task that keeps the turn alive and gives it back.
    fn keep(mut self, fence: Fence, ttl: Duration) -> Turn {
        let (end, ended) = oneshot::channel();
        self.end.fence = Some(fence);
        tokio::spawn(async move {
            let _ = race(ended, self.renew(ttl)).await;
            self.leave().await;
        });
        Turn { _end: end }
    }

    /// Ends when the turn is lost, which nothing can undo.
    async fn renew(&self, ttl: Duration) {
        let mut pause = ttl / 3;
        loop {
            sleep(pause).await;
            match race(self.store.prolong(&self.end, ttl), sleep(ttl / 3)).await {
                First::Left(Ok(true)) => pause = ttl / 3,
                First::Left(Ok(false)) => {
                    for key in &self.end.locks {
                        events::lost("lock", key.as_str(), self.end.fence.map(|fence| fence.0));
                    }
                    return std::future::pending().await;
                }
                First::Left(Err(_)) | First::Right(()) => pause = ttl / 12,
            }
        }
    }

    async fn leave(self) {
        // If this fails the place in line is lost by silence, and the turn when its time is up.
        let _ = retry_store(&Retry::brief(), || self.store.settle(&self.end)).await;
    }
}

impl GiveBack<Result<Admitted, StoreError>> for Line {
    async fn give_back(self, _: Result<Admitted, StoreError>) {
        self.leave().await;
    }
}

/// Leaves the line when it is dropped.
struct Standing(Option<Line>);

impl Drop for Standing {
    fn drop(&mut self) {
        if let (Some(line), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(line.leave());
        }
    }
}

//! The primitives behind a policy: in this process, or on a store and in this process before it.

use std::{num::NonZeroU32, sync::Arc};

use tokio::time::{Instant, timeout_at};

use super::{
    call::CallerName,
    policy::{Checked, Terms},
    refusal::RefusalReason,
};
use crate::{
    idempotency::{Idempotency, LocalIdempotency},
    in_flight::{Full, FullReason, InFlight, OwnedPermit, SharedInFlight, SharedPermit},
    rate::{RateLimit, SharedRateLimit},
    spell::joined,
    store::{Key, Quota, Store, StoreError, Taken},
};

/// How often a caller may call the tools of one rule.
#[derive(Debug)]
pub(super) enum Rate {
    Local(RateLimit<String>),
    Shared(SharedRateLimit, Scope),
}

/// How many calls of one caller to the tools of one rule run at once.
#[derive(Debug)]
pub(super) struct Flights {
    limit: NonZeroU32,
    /// Also before a store: it keeps the callers of this process in order, and their number bounded.
    local: Arc<InFlight<String>>,
    shared: Option<(SharedInFlight, Scope)>,
}

/// A place in flight. The fields are never read: dropping them gives the place back.
#[derive(Debug)]
pub(super) struct Flight {
    _shared: Option<SharedPermit>,
    _local: OwnedPermit<String>,
}

/// Which calls were made before.
#[derive(Debug)]
pub(super) enum Once {
    Local(LocalIdempotency<String>),
    Shared(Idempotency),
}

/// Under which name a rule counts in a store.
#[derive(Debug)]
pub(super) struct Scope {
    policy: String,
    rule: String,
}

impl Scope {
    fn new(terms: &Terms, rule: &Checked) -> Self {
        Self { policy: terms.name.clone(), rule: rule.name() }
    }

    fn key(&self, kind: &'static str, caller: &CallerName) -> Key {
        joined(kind, &[&self.policy, &self.rule, caller.as_str()])
    }
}

impl Rate {
    pub(super) fn new(quota: Quota, terms: &Terms, rule: &Checked) -> Self {
        match &terms.store {
            None => Self::Local(RateLimit::new(quota)),
            Some(store) => {
                Self::Shared(SharedRateLimit::new(Arc::clone(store), quota), Scope::new(terms, rule))
            }
        }
    }

    /// Counts a call, or says why it may not be. A store that does not answer is not waited for longer than for anything else.
    pub(super) async fn charge(&self, caller: &CallerName, deadline: Instant) -> Result<(), RefusalReason> {
        let taken = match self {
            Self::Local(limit) => limit.take(caller.as_str(), 1),
            Self::Shared(limit, scope) => {
                let key = scope.key("rate", caller);
                timeout_at(deadline, limit.take(&key, 1)).await.map_err(|_| silent())?.map_err(unanswered)?
            }
        };
        match taken {
            Taken::Granted { .. } => Ok(()),
            Taken::Refused { retry_after } => Err(RefusalReason::Rate { retry_after }),
        }
    }
}

impl Flights {
    pub(super) fn new(limit: NonZeroU32, terms: &Terms, rule: &Checked) -> Self {
        let local = InFlight::new(limit).queue(terms.queue).wait(terms.wait);
        let shared = |store: &Arc<dyn Store>| {
            (
                SharedInFlight::new(Arc::clone(store), limit).ttl(terms.hold).wait(terms.wait),
                Scope::new(terms, rule),
            )
        };
        Self { limit, local: Arc::new(local), shared: terms.store.as_ref().map(shared) }
    }

    /// Waits for a place, in order of arrival within this process. Dropping it leaves the queue.
    pub(super) async fn enter(
        &self,
        caller: &CallerName,
        deadline: Instant,
    ) -> Result<Flight, RefusalReason> {
        let local = timeout_at(deadline, self.local.acquire_owned(caller.as_str())).await;
        let local = local.map_err(|_| self.late())?.into_result().map_err(busy)?;
        let Some((shared, scope)) = &self.shared else {
            return Ok(Flight { _shared: None, _local: local });
        };
        let key = scope.key("flight", caller);
        let shared = timeout_at(deadline, shared.acquire(&key)).await.map_err(|_| self.late())?;
        let shared = shared.map_err(unanswered)?.into_result().map_err(busy)?;
        Ok(Flight { _shared: Some(shared), _local: local })
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.local.is_empty()
    }

    fn late(&self) -> RefusalReason {
        RefusalReason::InFlight { limit: self.limit.get(), is_queue_full: false, retry_after: None }
    }
}

impl Once {
    pub(super) fn new(terms: &Terms) -> Self {
        match &terms.store {
            None => {
                Self::Local(LocalIdempotency::new().keep(terms.keep).wait(terms.wait).purpose(&terms.name))
            }
            Some(store) => Self::Shared(
                Idempotency::new(Arc::clone(store))
                    .ttl(terms.hold)
                    .keep(terms.keep)
                    .wait(terms.wait)
                    .purpose(&terms.name),
            ),
        }
    }
}

fn busy(busy: Full) -> RefusalReason {
    RefusalReason::InFlight {
        limit: busy.limit,
        is_queue_full: busy.reason == FullReason::QueueFull,
        retry_after: busy.retry_after,
    }
}

pub(super) fn unanswered(error: StoreError) -> RefusalReason {
    RefusalReason::Store { is_retryable: error.is_retryable(), error: error.to_string() }
}

fn silent() -> RefusalReason {
    RefusalReason::Store { is_retryable: true, error: "the store did not answer in time".to_owned() }
}

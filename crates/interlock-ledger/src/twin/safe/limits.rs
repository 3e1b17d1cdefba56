//! Limits: tested and counted in one step, shared by all processes on one store.

use std::time::Duration;

use async_trait::async_trait;
use interlock_sync::{
    in_flight::{Admission, Busy, InFlight, SharedInFlight},
    rate::SharedRateLimit,
    store::{Quota, Taken},
};

use crate::{
    refusal::Refusal,
    rows::key,
    twin::{Admitted, Answer, Limits, MakeError, Parts},
};

use std::sync::Arc;

pub(super) struct Safe {
    rate: SharedRateLimit,
    /// Those who wait in this process do so in order, and without asking the store.
    here: Arc<InFlight<String>>,
    everywhere: SharedInFlight,
}

/// How many calls of one caller may wait, and for how long.
const QUEUE: usize = 1024;
const PATIENCE: Duration = Duration::from_secs(30);

impl Safe {
    pub(super) fn new(parts: &Parts) -> Result<Self, MakeError> {
        let quota = Quota::bucket(parts.rate, Duration::from_secs(60))?;
        Ok(Self {
            rate: SharedRateLimit::new(parts.store.clone(), quota),
            here: Arc::new(InFlight::new(parts.in_flight).queue(QUEUE).wait(PATIENCE)),
            everywhere: SharedInFlight::new(parts.store.clone(), parts.in_flight).wait(PATIENCE),
        })
    }
}

#[async_trait]
impl Limits for Safe {
    async fn admit(&self, caller: &str) -> Answer<Admitted> {
        // Charged once, on arrival: a call that then waits for a permit does not pay again.
        if let Taken::Refused { retry_after } = self.rate.take(&key("rate", caller)?, 1).await? {
            let after = retry_after.unwrap_or(Duration::from_secs(60));
            return Err(Refusal::TooOften { caller: caller.to_owned(), after });
        }
        let busy =
            |Busy { in_use, limit, .. }| Refusal::TooManyAtOnce { caller: caller.to_owned(), in_use, limit };
        let here = self.here.acquire_owned(caller).await.into_result().map_err(busy)?;
        match self.everywhere.acquire(&key("in-flight", caller)?).await? {
            // The shared one is given back first, so that whoever is next here finds it free.
            Admission::Granted(everywhere) => Ok(Box::new((everywhere, here))),
            Admission::Refused(refused) => Err(busy(refused)),
        }
    }
}

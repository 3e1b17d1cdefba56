//! Leases.

use std::time::Duration;

use interlock_sync::store::{Fence, Key, LeaseAnswer, LeaseRequest, StoreError};

use super::{
    answer::nonsense,
    span::{REMEMBER_FENCE, micros},
    store::RedisStore,
};

pub(super) async fn acquire(store: &RedisStore, request: &LeaseRequest) -> Result<LeaseAnswer, StoreError> {
    let mut call = store.scripts.acquire_lease.prepare_invoke();
    call.key(store.keys.lease(&request.key)).arg(request.owner.to_string());
    call.arg(micros(request.ttl)).arg(micros(REMEMBER_FENCE));
    let mut answer = store.link.run(&call).await?;
    match answer.word()?.as_str() {
        "granted" => Ok(LeaseAnswer::Granted { fence: Fence(answer.number()?) }),
        "held" => {
            let fence = Fence(answer.number()?);
            Ok(LeaseAnswer::Held { fence, retry_after: Duration::from_micros(answer.number()?) })
        }
        other => Err(nonsense(other)),
    }
}

/// Lets a lease end that long from now: to renew it, or at once to give it back.
pub(super) async fn set_end(
    store: &RedisStore,
    key: &Key,
    fence: Fence,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let mut call = store.scripts.set_lease_end.prepare_invoke();
    call.key(store.keys.lease(key)).arg(fence.0).arg(micros(ttl)).arg(micros(REMEMBER_FENCE));
    store.link.run(&call).await?.yes()
}

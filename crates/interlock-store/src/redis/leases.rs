//! Leases.

use std::time::Duration;

use interlock_sync::{
    decide::REMEMBER_FENCE,
    store::{Fence, Key, LeaseAnswer, LeaseRequest, StoreError},
};

use super::{answer::nonsense, span::micros, store::RedisStore};

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

pub(super) async fn renew(
    store: &RedisStore,
    key: &Key,
    fence: Fence,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let mut call = store.scripts.renew_lease.prepare_invoke();
    call.key(store.keys.lease(key)).arg(fence.0).arg(micros(ttl)).arg(micros(REMEMBER_FENCE));
    store.link.run(&call).await?.yes()
}

pub(super) async fn release(store: &RedisStore, key: &Key, fence: Fence) -> Result<bool, StoreError> {
    let mut call = store.scripts.release_lease.prepare_invoke();
    call.key(store.keys.lease(key)).arg(fence.0).arg(micros(REMEMBER_FENCE));
    store.link.run(&call).await?.yes()
}

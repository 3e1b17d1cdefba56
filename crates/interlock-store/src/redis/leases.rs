//! Leases.

use std::time::Duration;

use interlock_sync::store::{Fence, Key, LeaseAnswer, LeaseRequest, StoreError};

use super::{
    answer::{Answer, nonsense},
    call::{Call, digits},
    span::micros,
    store::RedisStore,
};

pub(super) async fn acquire(store: &RedisStore, request: &LeaseRequest) -> Result<LeaseAnswer, StoreError> {
    let call = Call::new(&store.scripts.acquire_lease, [store.keys.lease(&request.key)])
        .shown(request.owner)
        .arg(micros(request.ttl));
    let answer = store.link.run(&call).await?;
    let mut answer = Answer::new(&answer);
    match answer.word()? {
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
    let call = Call::new(&store.scripts.renew_lease, [store.keys.lease(key)])
        .shown(digits(fence.0))
        .arg(micros(ttl));
    Answer::new(&store.link.run(&call).await?).yes()
}

pub(super) async fn release(store: &RedisStore, key: &Key, fence: Fence) -> Result<bool, StoreError> {
    let call = Call::new(&store.scripts.release_lease, [store.keys.lease(key)]).shown(digits(fence.0));
    Answer::new(&store.link.run(&call).await?).yes()
}

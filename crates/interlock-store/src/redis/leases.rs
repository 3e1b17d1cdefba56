//! Leases.

use std::time::Duration;

use interlock_sync::store::{Fence, Key, LeaseAnswer, LeaseRequest, StoreError};

use super::{
    answer::{Answer, Said, nonsense, whole},
    call::{Call, digits},
    span::micros,
    store::RedisStore,
};

pub(super) async fn acquire(store: &RedisStore, request: &LeaseRequest) -> Result<LeaseAnswer, StoreError> {
    let call = Call::new(&store.scripts.acquire_lease, [store.keys.lease(&request.key)])
        .shown(request.owner)
        .arg(micros(request.ttl));
    let text = match store.link.run(&call).await? {
        Said::Number(fence) => return Ok(LeaseAnswer::Granted { fence: Fence(whole(fence)?) }),
        Said::Text(text) => text,
    };
    let mut answer = Answer::new(&text);
    match answer.word()? {
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
    store.link.run(&call).await?.yes()
}

pub(super) async fn release(store: &RedisStore, key: &Key, fence: Fence) -> Result<bool, StoreError> {
    let call = Call::new(&store.scripts.release_lease, [store.keys.lease(key)]).shown(digits(fence.0));
    store.link.run(&call).await?.yes()
}

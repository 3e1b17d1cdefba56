//! Rate limits and permits.

use std::{num::NonZeroU32, time::Duration};

use interlock_sync::store::{Key, OpId, PermitAnswer, PermitRequest, Quota, StoreError, Taken};

use super::{
    answer::{Answer, nonsense},
    call::Call,
    span::micros,
    store::RedisStore,
};

/// From here on, in µs, a bucket's times may pass what a script's numbers hold exactly: 35 years to fill it up.
pub(super) const LARGE: u64 = 1 << 50;

pub(super) async fn take(
    store: &RedisStore,
    key: &Key,
    quota: &Quota,
    cost: u32,
) -> Result<Taken, StoreError> {
    let (Quota::Bucket { burst: most, .. } | Quota::Log { limit: most, .. }) = *quota;
    if cost > most.get() {
        // No state could change this, so there is nothing to ask.
        return Ok(Taken::Refused { retry_after: None });
    }
    match *quota {
        Quota::Bucket { burst, .. } => {
            take_from_bucket(store, key, quota.interval_micros().max(1), burst, cost).await
        }
        Quota::Log { limit, window } => take_from_log(store, key, limit, window, cost).await,
    }
}

async fn take_from_bucket(
    store: &RedisStore,
    key: &Key,
    interval: u64,
    burst: NonZeroU32,
    cost: u32,
) -> Result<Taken, StoreError> {
    let capacity = interval.saturating_mul(u64::from(burst.get()));
    let charge = interval.saturating_mul(u64::from(cost));
    let room = capacity.saturating_sub(charge);
    let scripts = &store.scripts;
    let script = if capacity < LARGE { &scripts.take_bucket } else { &scripts.take_large_bucket };
    let call = Call::new(script, [store.keys.rate(key)]).arg(capacity).arg(room).arg(charge);
    let answer = store.link.run(&call).await?;
    let mut answer = Answer::new(&answer);
    let (word, owed) = (answer.word()?, answer.number::<u64>()?);
    match word {
        "granted" => {
            let remaining = room.saturating_sub(owed) / interval;
            Ok(Taken::Granted { remaining: u32::try_from(remaining).unwrap_or(u32::MAX) })
        }
        "refused" => {
            Ok(Taken::Refused { retry_after: Some(Duration::from_micros(owed.saturating_sub(room))) })
        }
        other => Err(nonsense(other)),
    }
}

async fn take_from_log(
    store: &RedisStore,
    key: &Key,
    limit: NonZeroU32,
    window: Duration,
    cost: u32,
) -> Result<Taken, StoreError> {
    let call = Call::new(&store.scripts.take_log, [store.keys.rate(key)])
        .arg(limit.get())
        .arg(micros(window))
        .arg(cost);
    let answer = store.link.run(&call).await?;
    let mut answer = Answer::new(&answer);
    match answer.word()? {
        "granted" => Ok(Taken::Granted { remaining: answer.number()? }),
        "refused" => Ok(Taken::Refused { retry_after: Some(Duration::from_micros(answer.number()?)) }),
        other => Err(nonsense(other)),
    }
}

pub(super) async fn acquire_permit(
    store: &RedisStore,
    request: &PermitRequest,
) -> Result<PermitAnswer, StoreError> {
    let call = Call::new(&store.scripts.acquire_permit, [store.keys.permits(&request.key)])
        .shown(request.holder)
        .arg(request.limit)
        .arg(micros(request.ttl));
    let answer = store.link.run(&call).await?;
    let mut answer = Answer::new(&answer);
    let (word, in_use) = (answer.word()?, answer.number()?);
    match word {
        "granted" => Ok(PermitAnswer::Granted { in_use }),
        "full" => Ok(PermitAnswer::Full { in_use, retry_after: Duration::from_micros(answer.number()?) }),
        other => Err(nonsense(other)),
    }
}

pub(super) async fn renew_permit(
    store: &RedisStore,
    key: &Key,
    holder: &OpId,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let call =
        Call::new(&store.scripts.renew_permit, [store.keys.permits(key)]).shown(holder).arg(micros(ttl));
    Answer::new(&store.link.run(&call).await?).yes()
}

pub(super) async fn release_permit(store: &RedisStore, key: &Key, holder: &OpId) -> Result<bool, StoreError> {
    let call = Call::new(&store.scripts.release_permit, [store.keys.permits(key)]).shown(holder);
    Answer::new(&store.link.run(&call).await?).yes()
}

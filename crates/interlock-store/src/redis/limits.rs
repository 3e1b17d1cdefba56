//! Rate limits and permits.

use std::{num::NonZeroU32, time::Duration};

use interlock_sync::store::{Key, OpId, PermitAnswer, PermitRequest, Quota, StoreError, Taken};

use redis::Script;

use super::{
    answer::{Answer, Said, nonsense, whole},
    call::{Call, Packed},
    keys,
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
    let (is_granted, owed) = if capacity < LARGE {
        let numbers = Packed::new().long(capacity).long(room).long(charge);
        let call = of_rate(store, &store.scripts.take_bucket, key).numbers(&numbers);
        granted(&store.link.run(&call).await?)?
    } else {
        let call = of_rate(store, &store.scripts.take_large_bucket, key).arg(capacity).arg(room).arg(charge);
        let answer = store.link.text(&call).await?;
        let mut answer = Answer::new(&answer);
        (answer.word()? == "granted", answer.number::<u64>()?)
    };
    if is_granted {
        let remaining = room.saturating_sub(owed) / interval;
        Ok(Taken::Granted { remaining: u32::try_from(remaining).unwrap_or(u32::MAX) })
    } else {
        Ok(Taken::Refused { retry_after: Some(Duration::from_micros(owed.saturating_sub(room))) })
    }
}

async fn take_from_log(
    store: &RedisStore,
    key: &Key,
    limit: NonZeroU32,
    window: Duration,
    cost: u32,
) -> Result<Taken, StoreError> {
    let numbers = Packed::new().short(limit.get()).long(micros(window)).short(cost);
    let call = of_rate(store, &store.scripts.take_log, key).numbers(&numbers);
    match granted(&store.link.run(&call).await?)? {
        (true, remaining) => Ok(Taken::Granted { remaining: u32::try_from(remaining).unwrap_or(u32::MAX) }),
        (false, wait) => Ok(Taken::Refused { retry_after: Some(Duration::from_micros(wait)) }),
    }
}

fn of_rate<'a>(store: &RedisStore, script: &'a Script, key: &Key) -> Call<'a> {
    Call::new(script, [store.keys.calls()]).arg(keys::rate(key))
}

/// Whether it was granted, and a number about it: one of a refusal is one more, and negative.
fn granted(said: &Said) -> Result<(bool, u64), StoreError> {
    match *said {
        Said::Number(number @ 0..) => Ok((true, whole(number)?)),
        Said::Number(number) => Ok((false, number.unsigned_abs().saturating_sub(1))),
        Said::Text(_) => Err(nonsense("a text about a limit")),
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
    let text = match store.link.run(&call).await? {
        Said::Number(in_use) => {
            return Ok(PermitAnswer::Granted { in_use: u32::try_from(in_use).unwrap_or(u32::MAX) });
        }
        Said::Text(text) => text,
    };
    let mut answer = Answer::new(&text);
    match (answer.word()?, answer.number()?) {
        ("full", in_use) => {
            Ok(PermitAnswer::Full { in_use, retry_after: Duration::from_micros(answer.number()?) })
        }
        (other, _) => Err(nonsense(other)),
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
    store.link.run(&call).await?.yes()
}

pub(super) async fn release_permit(store: &RedisStore, key: &Key, holder: &OpId) -> Result<bool, StoreError> {
    let call = Call::new(&store.scripts.release_permit, [store.keys.permits(key)]).shown(holder);
    store.link.run(&call).await?.yes()
}

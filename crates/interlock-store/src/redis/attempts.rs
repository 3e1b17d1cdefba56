//! Idempotent attempts.

use std::time::Duration;

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Key, StoreError, Stored};

use super::{answer::nonsense, span::micros, store::RedisStore};

pub(super) async fn begin(store: &RedisStore, attempt: &Attempt) -> Result<Begun, StoreError> {
    let mut call = store.scripts.begin.prepare_invoke();
    call.key(store.keys.attempt(&attempt.key)).arg(attempt.fingerprint.0.as_slice());
    call.arg(attempt.owner.to_string()).arg(micros(attempt.ttl)).arg(micros(attempt.keep));
    let mut answer = store.link.run(&call).await?;
    match answer.word()?.as_str() {
        "reserved" => Ok(Begun::Reserved { fence: Fence(answer.number()?) }),
        "running" => Ok(Begun::Running { retry_after: Duration::from_micros(answer.number()?) }),
        "completed" => Ok(Begun::Ended(Stored { ending: Ending::Completed(answer.bytes()?) })),
        "failed" => Ok(Begun::Ended(Stored { ending: Ending::Failed(answer.bytes()?) })),
        "mismatch" => Ok(Begun::Mismatch),
        "in-doubt" => Ok(Begun::InDoubt { fence: Fence(answer.number()?) }),
        other => Err(nonsense(other)),
    }
}

pub(super) async fn dispatch(
    store: &RedisStore,
    key: &Key,
    fence: Fence,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let mut call = store.scripts.dispatch.prepare_invoke();
    call.key(store.keys.attempt(key)).arg(fence.0).arg(micros(ttl));
    store.link.run(&call).await?.yes()
}

pub(super) async fn finish(
    store: &RedisStore,
    key: &Key,
    fence: Fence,
    ending: &Ending,
    keep: Duration,
) -> Result<bool, StoreError> {
    let (how, answer) = match ending {
        Ending::Completed(answer) => ("completed", answer),
        Ending::Failed(answer) => ("failed", answer),
    };
    let mut call = store.scripts.finish.prepare_invoke();
    call.key(store.keys.attempt(key)).arg(fence.0).arg(how).arg(answer.as_slice()).arg(micros(keep));
    store.link.run(&call).await?.yes()
}

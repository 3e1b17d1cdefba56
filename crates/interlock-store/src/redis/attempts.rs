//! Idempotent attempts.

use std::time::Duration;

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Key, StoreError, Stored};
use redis::Script;

use super::{
    answer::{Answer, Said, nonsense, whole},
    call::{Call, Packed},
    keys,
    span::micros,
    store::RedisStore,
};

pub(super) async fn begin(store: &RedisStore, attempt: &Attempt) -> Result<Begun, StoreError> {
    let numbers = Packed::new()
        .long(micros(attempt.ttl))
        .long(micros(attempt.keep))
        .plain_name(keys::call(attempt.owner))
        .plain(&attempt.fingerprint.0);
    let call = of_attempt(store, &store.scripts.begin, &attempt.key).numbers(&numbers);
    let text = match store.link.run(&call).await? {
        Said::Number(fence) => return Ok(Begun::Reserved { fence: Fence(whole(fence)?) }),
        Said::Text(text) => text,
    };
    let mut answer = Answer::new(&text);
    match answer.word()? {
        "running" => Ok(Begun::Running { retry_after: Duration::from_micros(answer.number()?) }),
        "completed" => Ok(Begun::Ended(Stored { ending: Ending::Completed(answer.rest()?.to_vec()) })),
        "failed" => Ok(Begun::Ended(Stored { ending: Ending::Failed(answer.rest()?.to_vec()) })),
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
    let numbers = Packed::new().long(fence.0).long(micros(ttl));
    let call = of_attempt(store, &store.scripts.dispatch, key).numbers(&numbers);
    store.link.run(&call).await?.yes()
}

pub(super) async fn finish(
    store: &RedisStore,
    key: &Key,
    fence: Fence,
    ending: &Ending,
    keep: Duration,
) -> Result<bool, StoreError> {
    let (how, answer) = ended(ending);
    let numbers = Packed::new().long(fence.0).long(micros(keep)).byte(how);
    let call = of_attempt(store, &store.scripts.finish, key).numbers(&numbers).arg(answer);
    store.link.run(&call).await?.yes()
}

/// How an effect ended, by a letter, and its answer.
pub(super) fn ended(ending: &Ending) -> (u8, &[u8]) {
    match ending {
        Ending::Completed(answer) => (b'c', answer),
        Ending::Failed(answer) => (b'f', answer),
    }
}

fn of_attempt<'a>(store: &RedisStore, script: &'a Script, key: &Key) -> Call<'a> {
    Call::new(script, [store.keys.calls()]).arg(keys::attempt(key))
}

//! Idempotent attempts.

use std::{fmt::Write, time::Duration};

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Fingerprint, Key, StoreError, Stored};

use super::{answer::nonsense, span::micros, store::RedisStore};

pub(super) async fn begin(store: &RedisStore, attempt: &Attempt) -> Result<Begun, StoreError> {
    let mut call = store.scripts.begin.prepare_invoke();
    call.key(store.keys.attempt(&attempt.key)).arg(hex(&attempt.fingerprint));
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
        Ending::Completed(answer) => ("c", answer),
        Ending::Failed(answer) => ("f", answer),
    };
    let mut call = store.scripts.finish.prepare_invoke();
    call.key(store.keys.attempt(key)).arg(fence.0).arg(how).arg(answer.as_slice()).arg(micros(keep));
    store.link.run(&call).await?.yes()
}

/// As the rows hold it: text, because what separates their parts must not be in it.
fn hex(Fingerprint(bytes): &Fingerprint) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // A string has room for everything.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

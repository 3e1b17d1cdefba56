//! Idempotent attempts.

use std::{fmt, time::Duration};

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Fingerprint, Key, StoreError, Stored};

use super::{
    answer::{Answer, nonsense},
    call::{Call, digits},
    span::micros,
    store::RedisStore,
};

pub(super) async fn begin(store: &RedisStore, attempt: &Attempt) -> Result<Begun, StoreError> {
    let call = Call::new(&store.scripts.begin, [store.keys.attempt(&attempt.key)])
        .shown(format_args!("{}{}", attempt.owner, Hex(&attempt.fingerprint)))
        .arg(micros(attempt.ttl))
        .arg(micros(attempt.keep));
    let answer = store.link.run(&call).await?;
    let mut answer = Answer::new(&answer);
    match answer.word()? {
        "reserved" => Ok(Begun::Reserved { fence: Fence(answer.number()?) }),
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
    let call =
        Call::new(&store.scripts.dispatch, [store.keys.attempt(key)]).shown(digits(fence.0)).arg(micros(ttl));
    Answer::new(&store.link.run(&call).await?).yes()
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
    let call = Call::new(&store.scripts.finish, [store.keys.attempt(key)])
        .shown(digits(fence.0))
        .arg(how)
        .arg(answer.as_slice())
        .arg(micros(keep));
    Answer::new(&store.link.run(&call).await?).yes()
}

/// As the rows hold it: each byte in two digits.
pub(super) struct Hex<'a>(pub(super) &'a Fingerprint);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Fingerprint(bytes)) = self;
        let halves = bytes.as_chunks::<16>().0.iter();
        halves.map(|half| u128::from_be_bytes(*half)).try_for_each(|half| write!(f, "{half:032x}"))
    }
}

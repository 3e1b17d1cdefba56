//! Idempotent attempts.

use std::{collections::BTreeMap, time::Duration};

use interlock_sync::store::{
    Attempt, Begun, Doubt, Ending, Fence, Key, Store as _, StoreError, Stored, Timestamp,
};
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

/// How many fields of the hash one step looks at.
const PAGE: u32 = 1000;

/// Where the next step goes on, and the fields with what they hold.
type Page = (String, Vec<(Vec<u8>, Vec<u8>)>);

/// The attempts are fields of one hash in no order, so all of it is looked at, a page at a time: no other caller waits for the whole.
pub(super) async fn in_doubt(
    store: &RedisStore,
    prefix: &str,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<Doubt>, StoreError> {
    let now = store.now().await?;
    let mut found = BTreeMap::new();
    let mut cursor = String::from("0");
    loop {
        let mut command = redis::cmd("HSCAN");
        command.arg(store.keys.calls()).arg(&cursor).arg("MATCH").arg("o*").arg("COUNT").arg(PAGE);
        let (next, rows): Page = store.link.ask(&command).await?;
        for (field, row) in rows {
            if let Some(doubt) = doubt(&field, &row, now)?
                && doubt.key.as_str().starts_with(prefix)
                && after.is_none_or(|after| doubt.key > *after)
            {
                found.insert(doubt.key.clone(), doubt);
                // What is behind the last that is wanted need not be kept.
                if found.len() > limit {
                    found.pop_last();
                }
            }
        }
        if next == "0" {
            return Ok(found.into_values().collect());
        }
        cursor = next;
    }
}

/// The attempt that a field of the hash is, if nobody knows how it ended. `lib/end_attempt.lua` says what is where in it.
fn doubt(field: &[u8], row: &[u8], now: Timestamp) -> Result<Option<Doubt>, StoreError> {
    let senseless = || nonsense("an attempt that is none");
    let number = |at: usize| {
        let bytes = row.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_be_bytes).ok_or_else(senseless)
    };
    let (forget, fence, until) = (number(0)?, number(8)?, number(16)?);
    if row.get(24) != Some(&b'd') || until > now.0 || forget <= now.0 {
        return Ok(None);
    }
    let name = field.get(1..).and_then(|name| std::str::from_utf8(name).ok()).ok_or_else(senseless)?;
    let key = Key::new(name).map_err(|_| senseless())?;
    Ok(Some(Doubt { key, fence: Fence(fence), since: Timestamp(until) }))
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

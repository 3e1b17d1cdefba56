//! Admissions.

use std::{iter, time::Duration};

use interlock_sync::store::{
    Admission, Admitted, Charge, Ending, Fence, Quota, Settlement, StoreError, Stored, WaitsOn,
};
use redis::Script;

use super::{
    answer::{Answer, nonsense, number},
    attempts::Hex,
    call::{Call, Numbers, digits},
    keys,
    limits::LARGE,
    span::micros,
    store::RedisStore,
};

pub(super) async fn admit(store: &RedisStore, admission: &Admission) -> Result<Admitted, StoreError> {
    let Admission { places, locks, once, requires_fresh, observes, .. } = admission;
    let reader = admission.reader.as_ref();
    // Nobody has seen anything if there is no reader, and who asks again is not charged again.
    let observes = if reader.is_some() { observes.as_slice() } else { &[] };
    let charges = if admission.is_again { &[] } else { admission.charges.as_slice() };
    let mut numbers = Numbers::default()
        .long(micros(admission.ttl))
        .long(micros(admission.patience))
        .long(micros(admission.remember))
        .long(once.as_ref().map_or(0, |once| micros(once.keep)))
        .byte(admission.is_again)
        .count(charges.len())
        .count(places.len())
        .count(locks.len())
        .count(requires_fresh.len())
        .count(observes.len());
    numbers = places.iter().fold(numbers, |numbers, places| numbers.short(places.limit));
    numbers =
        locks.iter().fold(numbers, |numbers, wish| numbers.byte(if wish.is_shared { b's' } else { b'x' }));
    let kept = charges.iter().map(|charge| store.keys.rate(&charge.key));
    let kept = kept.chain(once.iter().map(|once| store.keys.attempt(&once.key)));
    let mut call = Call::new(&store.scripts.admit, iter::once(store.keys.calls()).chain(kept))
        .numbers(&numbers)
        .names([keys::call(admission.call)])
        .names(places.iter().map(|places| keys::place(&places.key)))
        .names(locks.iter().map(|wish| keys::lock(&wish.key)))
        .names(requires_fresh.iter().flat_map(|key| [keys::version(key), keys::view(reader, key)]))
        .names(observes.iter().map(keys::version))
        .names(observes.iter().map(|key| keys::view(reader, key)));
    if let Some(once) = once {
        call = call.shown(Hex(&once.fingerprint));
    }
    call = charges.iter().fold(call, |call, charge| charged(call, &charge.quota));
    admitted(&store.link.run(&call).await?, admission)
}

fn charged<'a>(call: Call<'a>, quota: &Quota) -> Call<'a> {
    let numbers = |kind: u8, [first, second, third]: [u64; 3]| {
        Numbers::default().byte(kind).long(first).long(second).long(third)
    };
    match *quota {
        Quota::Bucket { burst, .. } => {
            let interval = quota.interval_micros().max(1);
            let capacity = interval.saturating_mul(u64::from(burst.get()));
            let of_it = [capacity, capacity.saturating_sub(interval), interval];
            if capacity < LARGE {
                return call.numbers(&numbers(b'b', of_it));
            }
            of_it.into_iter().fold(call.numbers(&numbers(b'B', of_it)), Call::arg)
        }
        Quota::Log { limit, window } => call.numbers(&numbers(b'l', [limit.get().into(), micros(window), 0])),
    }
}

/// Keys are told by their places in what was asked, counted from 1.
fn admitted(answer: &[u8], admission: &Admission) -> Result<Admitted, StoreError> {
    let mut answer = Answer::new(answer);
    let wait = |answer: &mut Answer<'_>| answer.number().map(Duration::from_micros);
    match answer.word()? {
        "granted" => Ok(Admitted::Granted { fence: Fence(answer.number()?) }),
        "too-often" => {
            let Charge { key, .. } = nth(&admission.charges, answer.number()?)?;
            Ok(Admitted::TooOften { key: key.clone(), retry_after: Some(wait(&mut answer)?) })
        }
        "locks" => {
            let (ahead, retry_after) = (answer.number()?, wait(&mut answer)?);
            let key = |place| Ok::<_, StoreError>(nth(&admission.locks, number(place)?)?.key.clone());
            let keys = answer.word()?.split(' ').map(key).collect::<Result<_, _>>()?;
            Ok(Admitted::Waits { on: WaitsOn::Locks(keys), ahead, retry_after })
        }
        "place" => {
            let (ahead, retry_after) = (answer.number()?, wait(&mut answer)?);
            let key = nth(&admission.places, answer.number()?)?.key.clone();
            Ok(Admitted::Waits { on: WaitsOn::Place(key), ahead, retry_after })
        }
        "same" => {
            let once = admission.once.as_ref().ok_or_else(|| nonsense("same"))?;
            let on = WaitsOn::Same(once.key.clone());
            Ok(Admitted::Waits { on, ahead: 0, retry_after: wait(&mut answer)? })
        }
        "stale" => {
            let mut keys = vec![];
            while answer.has_more() {
                let key = nth(&admission.requires_fresh, answer.number()?)?.clone();
                keys.push((key, answer.word()? == "seen"));
            }
            Ok(Admitted::Stale { keys })
        }
        "completed" => Ok(Admitted::Ended(Stored { ending: Ending::Completed(answer.rest()?.to_vec()) })),
        "failed" => Ok(Admitted::Ended(Stored { ending: Ending::Failed(answer.rest()?.to_vec()) })),
        "mismatch" => Ok(Admitted::Mismatch),
        "in-doubt" => Ok(Admitted::InDoubt),
        other => Err(nonsense(other)),
    }
}

fn nth<T>(of: &[T], place: usize) -> Result<&T, StoreError> {
    place.checked_sub(1).and_then(|at| of.get(at)).ok_or_else(|| nonsense("a key that was not asked for"))
}

/// A script with the keys of a settlement, and its first arguments: numbers, the call, its places and its locks.
fn of_settlement<'a>(
    store: &RedisStore,
    script: &'a Script,
    settlement: &Settlement,
    numbers: &Numbers,
) -> Call<'a> {
    let attempt = settlement.once.iter().map(|(key, ..)| store.keys.attempt(key));
    Call::new(script, iter::once(store.keys.calls()).chain(attempt))
        .numbers(numbers)
        .names([keys::call(settlement.call)])
        .names(settlement.places.iter().map(keys::place))
        .names(settlement.locks.iter().map(keys::lock))
}

pub(super) async fn prolong(
    store: &RedisStore,
    settlement: &Settlement,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let Some(fence) = settlement.fence else { return Ok(false) };
    let numbers =
        Numbers::default().long(micros(ttl)).count(settlement.places.len()).count(settlement.locks.len());
    let call = of_settlement(store, &store.scripts.prolong, settlement, &numbers).shown(digits(fence.0));
    Answer::new(&store.link.run(&call).await?).yes()
}

pub(super) async fn settle(store: &RedisStore, settlement: &Settlement) -> Result<bool, StoreError> {
    let Settlement { once, places, locks, changes, .. } = settlement;
    let keep = once.as_ref().map_or(Duration::ZERO, |(_, _, keep)| *keep);
    // A change of nobody's is seen by nobody.
    let reader = settlement.reader.as_ref().filter(|_| settlement.is_success);
    let numbers = Numbers::default()
        .long(micros(settlement.remember))
        .long(micros(keep))
        .count(places.len())
        .count(locks.len())
        .count(changes.len())
        .byte(reader.is_some());
    let seen = if reader.is_some() { changes.as_slice() } else { &[] };
    let call = of_settlement(store, &store.scripts.settle, settlement, &numbers)
        .names(changes.iter().map(keys::version))
        .names(seen.iter().map(|key| keys::view(reader, key)));
    let mut call = match settlement.fence {
        Some(fence) => call.shown(digits(fence.0)),
        None => call.arg(""),
    };
    if let Some((_, ending, _)) = once {
        let (how, answer) = match ending {
            Some(Ending::Completed(answer)) => ("c", answer.as_slice()),
            Some(Ending::Failed(answer)) => ("f", answer.as_slice()),
            None => ("", &[][..]),
        };
        call = call.arg(how).arg(answer);
    }
    Answer::new(&store.link.run(&call).await?).yes()
}

/// Removes what is over, part by part.
pub(super) async fn sweep(store: &RedisStore) -> Result<u64, StoreError> {
    let (mut cursor, mut removed) = (String::from("0"), 0_u64);
    loop {
        let call = Call::new(&store.scripts.sweep, [store.keys.calls()]).arg(&cursor);
        let answer = store.link.run(&call).await?;
        let mut answer = Answer::new(&answer);
        cursor = answer.word()?.to_owned();
        removed = removed.saturating_add(answer.number()?);
        if cursor == "0" {
            return Ok(removed);
        }
    }
}

//! Admissions.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Charge, Ending, Fence, Key, Quota, Settlement, StoreError, Stored, WaitsOn,
};

use super::{
    answer::{Answer, nonsense, number},
    attempts::Hex,
    call::{Call, digits},
    keys::{Keys, Name},
    limits::LARGE,
    span::micros,
    store::RedisStore,
};

pub(super) async fn admit(store: &RedisStore, admission: &Admission) -> Result<Admitted, StoreError> {
    let keys = &store.keys;
    let Admission { charges, places, locks, once, requires_fresh, observes, .. } = admission;
    let reader = admission.reader.as_ref();
    // Nobody has seen anything if there is no reader.
    let observes = if reader.is_some() { observes.as_slice() } else { &[] };
    let mut names = vec![keys.number(), keys.call(admission.call)];
    names.extend(charges.iter().map(|charge| keys.rate(&charge.key)));
    names.extend(once.iter().map(|once| keys.attempt(&once.key)));
    names.extend(places.iter().map(|places| keys.place(&places.key)));
    names.extend(locks.iter().map(|wish| keys.lock(&wish.key)));
    names.extend(seen(keys, reader, requires_fresh).chain(seen(keys, reader, observes)));
    let mut call = Call::new(&store.scripts.admit, names.iter().copied())
        .shown(admission.call)
        .arg(micros(admission.ttl))
        .arg(micros(admission.patience))
        .arg(micros(admission.remember))
        .arg(u8::from(admission.is_again))
        .arg(charges.len())
        .arg(usize::from(once.is_some()))
        .arg(places.len())
        .arg(locks.len())
        .arg(requires_fresh.len())
        .arg(observes.len());
    call = charges.iter().fold(call, |call, charge| charged(call, &charge.quota));
    if let Some(once) = once {
        call = call.shown(Hex(&once.fingerprint)).arg(micros(once.keep));
    }
    call = places.iter().fold(call, |call, places| call.arg(places.limit));
    call = locks.iter().fold(call, |call, wish| call.arg(if wish.is_shared { "s" } else { "x" }));
    admitted(&store.link.run(&call).await?, admission)
}

/// Of each key its version and what the reader saw of it.
fn seen<'a>(
    keys: &'a Keys,
    reader: Option<&'a Key>,
    of: &'a [Key],
) -> impl Iterator<Item = Name<'a>> + Clone {
    of.iter().flat_map(move |key| [keys.changed(key), keys.view(reader, key)])
}

fn charged<'a>(call: Call<'a>, quota: &Quota) -> Call<'a> {
    match *quota {
        Quota::Bucket { burst, .. } => {
            let interval = quota.interval_micros().max(1);
            let capacity = interval.saturating_mul(u64::from(burst.get()));
            let kind = if capacity < LARGE { "b" } else { "B" };
            call.arg(kind).arg(capacity).arg(capacity.saturating_sub(interval)).arg(interval)
        }
        Quota::Log { limit, window } => call.arg("l").arg(limit.get()).arg(micros(window)).arg(0),
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

/// The keys that a settlement names, in the order in which the scripts expect them.
fn held<'a>(keys: &'a Keys, settlement: &'a Settlement) -> Vec<Name<'a>> {
    let mut names = vec![keys.number(), keys.call(settlement.call)];
    names.extend(settlement.once.iter().map(|(key, ..)| keys.attempt(key)));
    names.extend(settlement.places.iter().map(|key| keys.place(key)));
    names.extend(settlement.locks.iter().map(|key| keys.lock(key)));
    names
}

pub(super) async fn prolong(
    store: &RedisStore,
    settlement: &Settlement,
    ttl: Duration,
) -> Result<bool, StoreError> {
    let Some(fence) = settlement.fence else { return Ok(false) };
    let call = Call::new(&store.scripts.prolong, held(&store.keys, settlement))
        .shown(settlement.call)
        .shown(digits(fence.0))
        .arg(micros(ttl))
        .arg(usize::from(settlement.once.is_some()))
        .arg(settlement.places.len())
        .arg(settlement.locks.len());
    Answer::new(&store.link.run(&call).await?).yes()
}

pub(super) async fn settle(store: &RedisStore, settlement: &Settlement) -> Result<bool, StoreError> {
    let Settlement { once, places, locks, changes, .. } = settlement;
    let mut names = held(&store.keys, settlement);
    names.extend(seen(&store.keys, settlement.reader.as_ref(), changes));
    let call = Call::new(&store.scripts.settle, names).shown(settlement.call);
    let mut call = match settlement.fence {
        Some(fence) => call.shown(digits(fence.0)),
        None => call.arg(""),
    };
    // A change of nobody's is seen by nobody.
    let is_seen = settlement.is_success && settlement.reader.is_some();
    call = call
        .arg(usize::from(once.is_some()))
        .arg(places.len())
        .arg(locks.len())
        .arg(changes.len())
        .arg(u8::from(is_seen))
        .arg(micros(settlement.remember));
    if let Some((_, ending, keep)) = once {
        let (how, answer) = match ending {
            Some(Ending::Completed(answer)) => ("c", answer.as_slice()),
            Some(Ending::Failed(answer)) => ("f", answer.as_slice()),
            None => ("", &[][..]),
        };
        call = call.arg(how).arg(answer).arg(micros(*keep));
    }
    Answer::new(&store.link.run(&call).await?).yes()
}

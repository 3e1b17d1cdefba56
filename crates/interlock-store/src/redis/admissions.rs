//! Admissions.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Charge, Ending, Fence, Quota, Settlement, StoreError, Stored, WaitsOn,
};

use super::{
    answer::{Answer, Said, nonsense, number, whole},
    attempts::ended,
    call::{Call, Packed},
    keys,
    limits::LARGE,
    span::micros,
    store::RedisStore,
};

pub(super) async fn admit(store: &RedisStore, admission: &Admission) -> Result<Admitted, StoreError> {
    let packed = packed(admission);
    let call = Call::new(&store.scripts.admit, [store.keys.calls()]).packed(&packed);
    // Rates alone hold nobody out.
    let holds = !admission.locks.is_empty() || !admission.places.is_empty() || admission.once.is_some();
    let said = if holds { store.link.grant(&call, admission.ttl).await } else { store.link.run(&call).await };
    match said? {
        Said::Number(fence) => Ok(Admitted::Granted { fence: Fence(whole(fence)?) }),
        Said::Text(text) => refused(&text, admission),
    }
}

fn packed(admission: &Admission) -> Packed {
    let Admission { places, locks, once, requires_fresh, observes, .. } = admission;
    let reader = admission.reader.as_ref();
    // Nobody has seen anything if there is no reader, and who asks again is not charged again.
    let observes = if reader.is_some() { observes.as_slice() } else { &[] };
    let charges = if admission.is_again { &[] } else { admission.charges.as_slice() };
    // What must be fresh comes first, so that its places are those in what was asked.
    let only_observed = || observes.iter().filter(|key| !requires_fresh.contains(key));
    let mut packed = Packed::new()
        .long(micros(admission.ttl))
        .long(micros(admission.patience))
        .long(micros(admission.remember))
        .long(once.as_ref().map_or(0, |once| micros(once.keep)))
        .count(places.len())
        .count(locks.len())
        .count(requires_fresh.len() + only_observed().count())
        .count(charges.len())
        .byte(once.is_some());
    packed = places.iter().fold(packed, |packed, places| packed.short(places.limit));
    packed = locks.iter().fold(packed, |packed, wish| packed.byte(if wish.is_shared { b's' } else { b'x' }));
    packed = requires_fresh
        .iter()
        .fold(packed, |packed, key| packed.byte(1 + 2 * u8::from(observes.contains(key))));
    packed = only_observed().fold(packed, |packed, _| packed.byte(2));
    packed = charges.iter().fold(packed, |packed, charge| charged(packed, &charge.quota));
    packed = packed
        .names([keys::call(admission.call)])
        .names(places.iter().map(|places| keys::place(&places.key)))
        .names(locks.iter().map(|wish| keys::lock(&wish.key)))
        .names(
            requires_fresh
                .iter()
                .chain(only_observed())
                .flat_map(|key| [keys::version(key), keys::view(reader, key)]),
        )
        .names(charges.iter().map(|charge| keys::rate(&charge.key)));
    if let Some(once) = once {
        packed = packed.names([keys::attempt(&once.key)]).cut(&once.fingerprint.0);
    }
    charges.iter().fold(packed, |packed, charge| {
        let of_it = bucket(&charge.quota).filter(|[capacity, ..]| *capacity >= LARGE);
        of_it.into_iter().flatten().fold(packed, |packed, number| packed.cut(number.to_string().as_bytes()))
    })
}

/// Of a bucket, in µs, what it holds, what may be owed before one is taken, and what one costs.
fn bucket(quota: &Quota) -> Option<[u64; 3]> {
    let Quota::Bucket { burst, .. } = *quota else { return None };
    let interval = quota.interval_micros().max(1);
    let capacity = interval.saturating_mul(u64::from(burst.get()));
    Some([capacity, capacity.saturating_sub(interval), interval])
}

fn charged(packed: Packed, quota: &Quota) -> Packed {
    let (kind, numbers) = match (*quota, bucket(quota)) {
        (Quota::Log { limit, window }, _) => (b'l', [limit.get().into(), micros(window), 0]),
        (_, Some(numbers @ [(..LARGE), _, _])) => (b'b', numbers),
        (_, numbers) => (b'B', numbers.unwrap_or_default()),
    };
    numbers.into_iter().fold(packed.byte(kind), Packed::long)
}

/// Keys are told by their places in what was asked, counted from 1.
fn refused(answer: &[u8], admission: &Admission) -> Result<Admitted, StoreError> {
    let mut answer = Answer::new(answer);
    let wait = |answer: &mut Answer<'_>| answer.number().map(Duration::from_micros);
    match answer.word()? {
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

/// The call, its places and its locks.
fn held(packed: Packed, settlement: &Settlement) -> Packed {
    packed
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
    let Settlement { once, places, locks, .. } = settlement;
    let numbers = Packed::new()
        .long(micros(ttl))
        .long(fence.0)
        .count(places.len())
        .count(locks.len())
        .byte(once.is_some());
    let packed = held(numbers, settlement).names(once.iter().map(|(key, ..)| keys::attempt(key)));
    let call = Call::new(&store.scripts.prolong, [store.keys.calls()]).packed(&packed);
    store.link.prolong(&call, ttl).await?.yes()
}

pub(super) async fn settle(store: &RedisStore, settlement: &Settlement) -> Result<bool, StoreError> {
    let Settlement { once, places, locks, changes, .. } = settlement;
    let keep = once.as_ref().map_or(Duration::ZERO, |(_, _, keep)| *keep);
    let ending = once.as_ref().and_then(|(_, ending, _)| ending.as_ref()).map(ended);
    // A change of nobody's is seen by nobody.
    let reader = settlement.reader.as_ref().filter(|_| settlement.is_success);
    let numbers = Packed::new()
        .long(micros(settlement.remember))
        .long(micros(keep))
        .long(settlement.fence.map_or(0, |fence| fence.0))
        .byte(settlement.fence.is_some())
        .count(places.len())
        .count(locks.len())
        .count(changes.len())
        .byte(reader.is_some())
        .byte(once.is_some())
        .byte(ending.map_or(0, |(how, _)| how));
    let seen = if reader.is_some() { changes.as_slice() } else { &[] };
    let packed = held(numbers, settlement)
        .names(changes.iter().map(keys::version))
        .names(seen.iter().map(|key| keys::view(reader, key)))
        .names(once.iter().map(|(key, ..)| keys::attempt(key)));
    let mut call = Call::new(&store.scripts.settle, [store.keys.calls()]).packed(&packed);
    if let Some((_, answer)) = ending {
        call = call.arg(answer);
    }
    store.link.run(&call).await?.yes()
}

/// Removes what is over, part by part.
pub(super) async fn sweep(store: &RedisStore) -> Result<u64, StoreError> {
    let (mut cursor, mut removed) = (String::from("0"), 0_u64);
    loop {
        let call = Call::new(&store.scripts.sweep, [store.keys.calls()]).arg(&cursor);
        let answer = store.link.text(&call).await?;
        let mut answer = Answer::new(&answer);
        cursor = answer.word()?.to_owned();
        removed = removed.saturating_add(answer.number()?);
        if cursor == "0" {
            return Ok(removed);
        }
    }
}

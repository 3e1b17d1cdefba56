//! The rate limit beside governor's, and all that a tool call passes on its way in beside one plain mutex.

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use anyhow::{Context, Result};
use governor::RateLimiter;
use interlock_sync::{
    gate::Gate,
    idempotency::{LocalIdempotency, Ran},
    in_flight::InFlight,
    lock::KeyedLock,
    rate::RateLimit,
    store::{Fingerprint, Quota},
};
use tokio::sync::Mutex;

use crate::{
    row::Row,
    sample::{alone, quick},
    versions::of_crate,
};

const CALLER: &str = "caller:alice@example.org";
const MANY: usize = 10_000;

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let mut rows = rates()?;
    rows.push(whole_call()?);
    Ok(rows)
}

/// Quotas that are never used up: a refusal is another path, and governor makes a value of another kind for it.
fn rates() -> Result<Vec<Row>> {
    let theirs = RateLimiter::<String, _, _>::keyed(governor::Quota::per_second(NonZeroU32::MAX));
    let ours = RateLimit::<String>::new(plenty()?);
    let key = CALLER.to_owned();
    let keys: Vec<String> = (0..MANY).map(|number| format!("caller:{number}@example.org")).collect();
    // Far apart, so that the next one is not in a cache because of this one.
    let steps = || keys.iter().step_by(7).chain(keys.iter().skip(3).step_by(11)).cycle();
    let (mut our_keys, mut their_keys) = (steps(), steps());
    let row = |what: &str, both| Row {
        what: what.to_owned(),
        both,
        peer: of_crate("governor, keyed", "governor"),
        unit: "ns",
    };
    Ok(vec![
        row(
            "rate limit, one key",
            quick(
                async || _ = black_box(ours.take(black_box(key.as_str()), 1)),
                async || _ = black_box(theirs.check_key(black_box(&key))),
            )?,
        ),
        row(
            "rate limit, thousands of keys",
            quick(
                async || _ = black_box(our_keys.next().map(|key| ours.take(key.as_str(), 1))),
                async || _ = black_box(their_keys.next().map(|key| theirs.check_key(key))),
            )?,
        ),
    ])
}

fn whole_call() -> Result<Row> {
    let gate = Gate::new();
    let rate = RateLimit::<String>::new(plenty()?);
    let in_flight = InFlight::<String>::new(NonZeroU32::MAX);
    let lock = KeyedLock::<&'static str>::new();
    let once = LocalIdempotency::<String>::new();
    let request = Fingerprint::of("move 10 credits");
    let done = alone()?.block_on(once.run("transfer-1", request, async |_| Ok(b"moved".to_vec())));
    anyhow::ensure!(matches!(done, Ran::Done { .. }), "the effect that is looked up did not happen");
    let mutex = Mutex::new(());
    let both = quick(
        async || {
            let inside = gate.enter();
            let taken = rate.take(black_box(CALLER), 1);
            let permit = in_flight.acquire(black_box(CALLER)).await;
            let held = lock.lock(black_box("account:alice")).await;
            let known = once.look_up(black_box("transfer-1"), &request);
            drop(black_box((inside, taken, permit, held, known)));
        },
        async || drop(black_box(&mutex).lock().await),
    )?;
    let what = "gate + rate + permit + lock + idempotency look-up".to_owned();
    Ok(Row { what, both, peer: of_crate("tokio::sync::Mutex", "tokio"), unit: "ns" })
}

fn plenty() -> Result<Quota> {
    let quota = Quota::bucket(1_000_000, Duration::from_secs(1)).context("the quota is out of range")?;
    Ok(quota.with_burst(NonZeroU32::MAX))
}

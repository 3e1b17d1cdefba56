//! The rate limit beside governor's, and all that a tool call passes on its way in, here and through a gateway, beside one plain mutex.

use std::{collections::VecDeque, hint::black_box, num::NonZeroU32, time::Duration};

use anyhow::{Context, Result};
use governor::RateLimiter;
use interlock_sync::{
    gate::Gate,
    idempotency::{LocalIdempotency, Ran},
    in_flight::InFlight,
    lock::KeyedLock,
    memory::MemoryStore,
    rate::RateLimit,
    store::{Admission, Admitted, Fingerprint, OpId, Quota, Store},
};
use tokio::sync::Mutex;

use crate::{
    admission::{call, end},
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
    rows.push(admission()?);
    rows.push(crowded_admission()?);
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

/// One call after the other at one key, and nobody who waits.
fn admission() -> Result<Row> {
    let store = MemoryStore::default();
    let mut next = call("graph")?;
    let mutex = Mutex::new(());
    let both = quick(
        async || {
            next.call = OpId(next.call.0.wrapping_add(1));
            if let Ok(Admitted::Granted { fence }) = store.admit(black_box(&next)).await {
                _ = black_box(store.settle(&end(&next, fence)).await);
            }
        },
        async || drop(black_box(&mutex).lock().await),
    )?;
    let what = "memory store: admit, settle".to_owned();
    Ok(Row { what, both, peer: of_crate("tokio::sync::Mutex", "tokio"), unit: "ns" })
}

/// One is done, the first of thousands who wait at the same key is let in, and another comes.
fn crowded_admission() -> Result<Row> {
    let (store, runtime) = (MemoryStore::default(), alone()?);
    let mut line: VecDeque<Admission> = VecDeque::new();
    for _ in 0..=MANY {
        line.push_back(call("graph")?);
        runtime.block_on(store.admit(line.back().context("it was just put there")?))?;
    }
    let mut fence = match runtime.block_on(store.admit(line.front().context("thousands are there")?))? {
        Admitted::Granted { fence } => fence,
        other => anyhow::bail!("the first got {other:?}"),
    };
    let mutex = Mutex::new(());
    let both = quick(
        async || {
            let Some(mut done) = line.pop_front() else { return };
            _ = black_box(store.settle(&end(&done, fence)).await);
            let Some(first) = line.front() else { return };
            if let Ok(Admitted::Granted { fence: granted }) = store.admit(first).await {
                fence = granted;
            }
            done.call = OpId(done.call.0.wrapping_add(1));
            _ = black_box(store.admit(&done).await);
            line.push_back(done);
        },
        async || drop(black_box(&mutex).lock().await),
    )?;
    anyhow::ensure!(line.len() > MANY, "the line got shorter");
    let what = "memory store: settle, admit the first of 10,000, let one more wait".to_owned();
    Ok(Row { what, both, peer: of_crate("tokio::sync::Mutex", "tokio"), unit: "ns" })
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

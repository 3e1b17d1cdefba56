//! Primitives whose promises depend on the store: what is given back when a caller goes away, and who gets through.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use interlock_sync::{
    idempotency::{Failure, Idempotency, Ran},
    lease::{Lease, Leases},
    record::{Edit, Records, Updated},
    retry::Retry,
    store::{Change, Content, Fingerprint, Key, Mutation, Record},
};

use crate::{Shared, eventually, key, put};

/// Longer than any check waits: what comes back within the patience of `eventually` did not just run out.
const LONG: Duration = Duration::from_secs(600);

/// Moments at which a future is dropped: before, while and after the store is asked, on whatever store.
fn moments() -> impl Iterator<Item = Duration> {
    (0..24_u64).map(|nth| Duration::from_micros(nth * nth * 20))
}

async fn taken(leases: &Leases, key: &Key) -> Option<Lease> {
    leases.try_acquire(key).await.unwrap().ok()
}

pub(crate) async fn a_lease_whose_caller_went_away_is_given_back(store: Shared) {
    let leases = Leases::new(store, LONG);
    for (nth, moment) in moments().enumerate() {
        let job = key(&format!("job-{nth}"));
        // Whoever is told of its lease in time gives it back by dropping it.
        drop(tokio::time::timeout(moment, leases.try_acquire(&job)).await);
        drop(tokio::time::timeout(moment, leases.acquire(&job, LONG)).await);
        eventually(|| taken(&leases, &job)).await;
    }
}

pub(crate) async fn absurd_lengths_of_a_lease_are_made_possible(store: Shared) {
    let long = Leases::new(store.clone(), Duration::MAX);
    let lease = long.acquire(&key("long"), Duration::MAX).await.unwrap().expect("it is free");
    assert!(lease.is_held());
    assert!(long.try_acquire(&key("long")).await.unwrap().is_err(), "it has a holder");
    assert!(lease.release().await.unwrap());
    // As short as can be, which a busy machine may outwait; but not always.
    let short = Leases::new(store, Duration::ZERO);
    eventually(|| async {
        let lease = short.acquire(&key("short"), Duration::MAX).await.unwrap().expect("it becomes free");
        let was_held = lease.is_held();
        lease.release().await.unwrap();
        was_held.then_some(())
    })
    .await;
}

/// One that takes the lease again and again must not keep another from it that waits.
pub(crate) async fn a_lease_goes_to_those_who_wait_in_turn(store: Shared) {
    const WANTED: u32 = 3;
    let leases = Leases::new(store, Duration::from_secs(60));
    let (greedy_had, other_had) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let greedy = tokio::spawn({
        let (leases, had, other) = (leases.clone(), greedy_had.clone(), other_had.clone());
        async move {
            while other.load(Ordering::SeqCst) < WANTED {
                let lease = leases.acquire(&key("job"), LONG).await.unwrap().expect("it is patient");
                had.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(2)).await;
                lease.release().await.unwrap();
            }
        }
    });
    for _ in 0..WANTED {
        let lease = leases.acquire(&key("job"), LONG).await.unwrap().expect("it is patient");
        other_had.fetch_add(1, Ordering::SeqCst);
        lease.release().await.unwrap();
    }
    greedy.await.unwrap();
    let had = greedy_had.load(Ordering::SeqCst);
    assert!(had < 100, "one had it {had} times while the other waited for it {WANTED} times");
}

pub(crate) async fn a_reservation_whose_caller_went_away_is_given_back(store: Shared) {
    let once = Idempotency::new(store).ttl(LONG).wait(Duration::ZERO);
    for (nth, moment) in moments().enumerate() {
        let order = key(&format!("order-{nth}"));
        let run = || once.run(&order, Fingerprint::of("pay"), async |_| Ok(b"paid".to_vec()));
        drop(tokio::time::timeout(moment, run()).await);
        eventually(async || match run().await.unwrap() {
            Ran::Done { .. } | Ran::Replayed(_) => Some(()),
            Ran::Running { .. } => None,
            other => panic!("no effect was ever cut off: {other:?}"),
        })
        .await;
    }
}

pub(crate) async fn an_effect_that_did_not_end_is_in_doubt_at_once(store: Shared) {
    let once = Idempotency::new(store).ttl(LONG).wait(Duration::ZERO);
    let panics = tokio::spawn({
        let once = once.clone();
        async move { once.run(&key("panics"), Fingerprint::of("pay"), async |_| panic!("on purpose")).await }
    });
    assert!(panics.await.unwrap_err().is_panic());
    let panics_early = tokio::spawn({
        let once = once.clone();
        let effect = |_| -> std::future::Ready<Result<Vec<u8>, Failure>> { panic!("on purpose") };
        async move { once.run(&key("panics early"), Fingerprint::of("pay"), effect).await }
    });
    assert!(panics_early.await.unwrap_err().is_panic());
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let hangs = tokio::spawn({
        let once = once.clone();
        async move {
            let effect = async |_| {
                let _ = begun.send(());
                pending().await
            };
            once.run(&key("cut off"), Fingerprint::of("pay"), effect).await
        }
    });
    has_begun.await.unwrap();
    hangs.abort();
    let unknown = once.run(&key("unknown"), Fingerprint::of("pay"), async |_| Err(Failure::Unknown)).await;
    assert!(matches!(unknown.unwrap(), Ran::InDoubt { .. }));
    for name in ["panics", "panics early", "cut off", "unknown"] {
        eventually(async || {
            let key = key(name);
            let again = once.run(&key, Fingerprint::of("pay"), async |_| unreachable!("never again"));
            match again.await.unwrap() {
                Ran::InDoubt { .. } => Some(()),
                Ran::Running { .. } => None,
                other => panic!("{name}: {other:?}"),
            }
        })
        .await;
    }
}

/// After a crash nobody knows how far an effect got; its own steps can be asked for.
pub(crate) async fn a_step_of_an_effect_can_be_asked_for_after_a_crash(store: Shared) {
    put(&store, "purse", Content::Number(10)).await;
    let once = Idempotency::new(store.clone()).purpose("pay");
    let debit = Change::Add { key: key("purse"), delta: -4, floor: Some(0) };
    for (name, was_done) in [("crashes after", true), ("crashes before", false)] {
        let order = key(name);
        assert_eq!(store.applied(&once.op_id(&order, "debit")).await.unwrap(), None);
        let crashes = tokio::spawn({
            let (store, once, debit, order) = (store.clone(), once.clone(), debit.clone(), order.clone());
            async move {
                let effect = async |effect: interlock_sync::idempotency::EffectContext| {
                    if was_done {
                        store.mutate(&Mutation::new(effect.op_id("debit"), debit)).await.unwrap();
                    }
                    panic!("on purpose")
                };
                once.run(&order, Fingerprint::of("pay"), effect).await
            }
        });
        assert!(crashes.await.unwrap_err().is_panic());
        let done = store.applied(&once.op_id(&order, "debit")).await.unwrap();
        assert_eq!(done.is_some(), was_done, "{name}");
        assert_eq!(store.applied(&once.op_id(&order, "credit")).await.unwrap(), None, "another step");
    }
}

pub(crate) async fn among_fifty_writers_everyone_gets_through(store: Shared) {
    let records = Records::new(store);
    let writers: Vec<_> = (0..50_u8)
        .map(|writer| {
            let records = records.clone();
            let add = move |now: Option<&Record>| {
                let mut list = match now.map(|record| &record.content) {
                    Some(Content::Bytes(list)) => list.clone(),
                    _ => vec![],
                };
                list.push(writer);
                Ok::<_, ()>(Edit::Put(Content::Bytes(list)))
            };
            tokio::spawn(async move { records.update(&key("list"), &Retry::default(), add).await.unwrap() })
        })
        .collect();
    for writer in writers {
        let updated = writer.await.unwrap();
        assert!(matches!(updated, Updated::Applied(_)), "{updated:?}");
    }
    let Some(Record { content: Content::Bytes(mut list), .. }) = records.get(&key("list")).await.unwrap()
    else {
        panic!("it is a list")
    };
    list.sort_unstable();
    assert_eq!(list, (0..50).collect::<Vec<_>>());
}

//! Leases on a clock that moves with tokio's own.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{
    memory::MemoryStore,
    store::{Change, Content, Expect, Mutation, Outcome, Refusal},
    testing::TokioClock,
};

const TTL: Duration = Duration::from_secs(10);

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(Arc::new(TokioClock::new()), TTL))
}

fn job() -> Key {
    Key::new("job").unwrap()
}

async fn taken(leases: &Leases) -> Lease {
    leases.try_acquire(&job()).await.unwrap().expect("it is free")
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_for_as_long_as_it_is_held() {
    let leases = Leases::new(store(), TTL);
    let lease = taken(&leases).await;
    tokio::time::sleep(TTL * 20).await;
    assert!(lease.is_held());
    let busy = leases.try_acquire(&job()).await.unwrap().expect_err("it is held");
    assert_eq!(busy.fence, lease.fence());
    assert!(busy.retry_after <= TTL);
    assert!(lease.release().await.unwrap());
    assert!(taken(&leases).await.is_held());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_lease_comes_back_at_once() {
    let leases = Leases::new(store(), TTL);
    drop(taken(&leases).await);
    let start = Instant::now();
    let next = leases.acquire(&job(), TTL).await.unwrap();
    assert!(next.is_ok());
    assert!(start.elapsed() < TTL, "it did not have to run out");
}

#[tokio::test(start_paused = true)]
async fn a_waiter_gets_it_when_it_is_given_back_and_gives_up_when_its_patience_ends() {
    let leases = Leases::new(store(), TTL);
    let lease = taken(&leases).await;
    assert!(leases.acquire(&job(), TTL * 3).await.unwrap().is_err());
    let waiter = tokio::spawn({
        let leases = leases.clone();
        async move { leases.acquire(&job(), TTL * 3).await.unwrap() }
    });
    tokio::time::sleep(TTL).await;
    assert!(!waiter.is_finished());
    lease.release().await.unwrap();
    assert!(waiter.await.unwrap().is_ok());
}

/// The holder is stopped past its limit, another takes over, and the holder wakes up believing that nothing happened.
#[tokio::test(start_paused = true)]
async fn the_write_of_a_holder_that_slept_is_refused() {
    let store = store();
    let leases = Leases::new(store.clone(), TTL);
    let slept = taken(&leases).await;
    slept.heartbeat_stops();
    tokio::time::sleep(TTL).await;
    assert!(!slept.is_held(), "it can know");
    slept.lost().await;
    let next = taken(&leases).await;
    assert!(next.fence() > slept.fence());
    let put = Change::Put { key: job(), expect: Expect::Any, content: Content::Number(1) };
    let write = |lease: &Lease| lease.guard(Mutation::new(OpId::fresh(), put.clone()));
    let late = store.mutate(&write(&slept)).await.unwrap();
    assert_eq!(late, Outcome::Refused(Refusal::Fenced { current: Some(next.fence()) }));
    assert!(matches!(store.mutate(&write(&next)).await.unwrap(), Outcome::Applied(_)));
}

#[tokio::test(start_paused = true)]
async fn who_loses_a_lease_is_told() {
    let store = store();
    let leases = Leases::new(store.clone(), TTL);
    let lease = taken(&leases).await;
    let told = AtomicBool::new(false);
    let watch = async {
        lease.lost().await;
        told.store(true, Ordering::SeqCst);
    };
    let take_away = async {
        tokio::time::sleep(TTL * 2).await;
        assert!(!told.load(Ordering::SeqCst), "it is renewed until then");
        store.release_lease(&job(), lease.fence()).await.unwrap();
    };
    tokio::join!(watch, take_away);
    assert!(!lease.is_held());
}

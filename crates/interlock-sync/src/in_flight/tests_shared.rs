//! Limits of many processes: permits that are kept, lost, given back, and that come back from the dead.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use tokio::time::{advance, sleep};

use super::*;
use crate::{
    retry::Retry,
    store::{Key, PermitAnswer, PermitRequest, Store},
    testing::{Fault, FaultyStore, Op, poll_at_most, settle},
};

const TTL: Duration = Duration::from_secs(3);

fn limit_of(limit: u32) -> (SharedInFlight, Arc<FaultyStore>) {
    let store = FaultyStore::new();
    let limit = SharedInFlight::new(Arc::clone(&store) as _, NonZeroU32::new(limit).unwrap());
    (limit.ttl(TTL).retry(Retry::times(3).first(Duration::from_millis(10))), store)
}

fn alice() -> Key {
    Key::new("alice").unwrap()
}

async fn granted(limit: &SharedInFlight) -> SharedPermit {
    limit.try_acquire(&alice()).await.unwrap().granted().expect("there is a permit")
}

/// How many permits the store says are out, by asking for one more than there can be.
async fn out(store: &FaultyStore) -> u32 {
    let holder = crate::store::OpId::fresh();
    let request = PermitRequest { key: alice(), holder, limit: 0, ttl: TTL };
    match store.acquire_permit(&request).await.unwrap() {
        PermitAnswer::Full { in_use, .. } | PermitAnswer::Granted { in_use } => in_use,
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_at_once_and_a_refusal_says_when_to_come_back() {
    let (limit, _) = limit_of(1);
    let permit = granted(&limit).await;
    let Acquired::Refused(busy) = limit.try_acquire(&alice()).await.unwrap() else { panic!("it is full") };
    assert_eq!((busy.reason, busy.in_use, busy.limit), (FullReason::AllOut, 1, 1));
    assert!(busy.retry_after.is_some_and(|wait| wait <= TTL));
    assert!(permit.release().await.unwrap());
    assert!(granted(&limit).await.release().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_renewed_for_as_long_as_it_lives_and_given_back_when_it_is_dropped() {
    let (limit, store) = limit_of(1);
    let permit = granted(&limit).await;
    sleep(TTL * 20).await;
    assert!(!permit.is_lost());
    assert!(
        limit.try_acquire(&alice()).await.unwrap().granted().is_none(),
        "the limit is not doubled by time"
    );
    assert_eq!(store.count(Op::RenewPermit), 60, "at every third of its time");
    drop(permit);
    settle().await;
    assert_eq!(out(&store).await, 0);
    sleep(TTL * 2).await;
    assert_eq!(store.count(Op::RenewPermit), 60, "and not after its end");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_refused_or_cannot_be_made_in_time_says_that_the_permit_is_lost() {
    let (limit, store) = limit_of(1);
    let permit = granted(&limit).await;
    store.release_permit(&alice(), &permit.holder()).await.unwrap();
    permit.lost().await;
    assert!(permit.is_lost() && !permit.release().await.unwrap());

    let permit = granted(&limit).await;
    store.plan(Op::RenewPermit, Fault::Hang);
    let began = tokio::time::Instant::now();
    permit.lost().await;
    assert!(began.elapsed() <= TTL, "the time counts from the moment of sending");
    let _next = granted(&limit).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_away_for_less_than_the_time_loses_nothing() {
    let (limit, store) = limit_of(1);
    let permit = granted(&limit).await;
    for fault in [Fault::Unavailable, Fault::LostAnswer, Fault::Unavailable, Fault::Unavailable] {
        store.plan(Op::RenewPermit, fault);
    }
    sleep(TTL * 5).await;
    assert!(!permit.is_lost() && permit.release().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_permits_of_a_process_that_died_come_back() {
    let (limit, store) = limit_of(1);
    let request = PermitRequest { key: alice(), holder: crate::store::OpId::fresh(), limit: 1, ttl: TTL };
    store.acquire_permit(&request).await.unwrap();
    assert!(limit.try_acquire(&alice()).await.unwrap().granted().is_none());
    let began = tokio::time::Instant::now();
    let permit = limit.acquire(&alice()).await.unwrap().granted();
    assert!(permit.is_some() && began.elapsed() <= TTL);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_a_permit_or_with_the_deadline() {
    let (limit, _) = limit_of(1);
    let permit = granted(&limit).await;
    let Acquired::Refused(busy) = limit.clone().wait(TTL / 2).acquire(&alice()).await.unwrap() else {
        panic!("it is full")
    };
    assert_eq!(busy.reason, FullReason::Deadline);
    let waiter = tokio::spawn(async move { limit.acquire(&alice()).await.unwrap().granted().is_some() });
    sleep(TTL).await;
    drop(permit);
    assert!(waiter.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_costs_no_second_permit() {
    let (limit, store) = limit_of(2);
    store.plan(Op::AcquirePermit, Fault::LostAnswer);
    let permit = granted(&limit).await;
    assert_eq!(out(&store).await, 1);
    store.plan(Op::ReleasePermit, Fault::LostAnswer);
    assert!(!permit.release().await.unwrap(), "asked again, it is gone already");
    assert_eq!(out(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_error_gives_back_what_may_have_been_granted() {
    let (limit, store) = limit_of(1);
    (0..3).for_each(|_| store.plan(Op::AcquirePermit, Fault::LostAnswer));
    assert!(limit.try_acquire(&alice()).await.unwrap_err().is_in_doubt());
    settle().await;
    assert_eq!(out(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_release_that_does_not_get_through_ends_with_an_error_and_the_time() {
    let (limit, store) = limit_of(1);
    let permit = granted(&limit).await;
    (0..3).for_each(|_| store.plan(Op::ReleasePermit, Fault::Unavailable));
    assert!(permit.release().await.is_err());
    advance(TTL).await;
    assert_eq!(out(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_future_dropped_at_any_await_keeps_no_permit() {
    for polls in 0..6 {
        let (limit, store) = limit_of(1);
        drop(poll_at_most(limit.try_acquire(&alice()), polls).await);
        settle().await;
        assert_eq!(out(&store).await, 0, "after {polls} polls of try_acquire");
        let permit = granted(&limit).await;
        let _ = poll_at_most(permit.release(), polls).await;
        settle().await;
        assert_eq!(out(&store).await, 0, "after {polls} polls of release");
        let held = granted(&limit).await;
        drop(poll_at_most(limit.acquire(&alice()), polls).await);
        drop(held);
        settle().await;
        assert_eq!(out(&store).await, 0, "after {polls} polls of acquire");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_never_exceed_the_limit_and_all_get_their_turn() {
    let (limit, store) = limit_of(5);
    let limit = limit.wait(TTL * 1000);
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (limit, store) = (limit.clone(), Arc::clone(&store));
            tokio::spawn(async move {
                let permit = limit.acquire(&alice()).await.unwrap().granted().expect("there is time");
                assert!(out(&store).await <= 5);
                sleep(Duration::from_millis(20)).await;
                assert!(permit.release().await.unwrap());
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(out(&store).await, 0);
}

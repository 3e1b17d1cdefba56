//! Answers that are lost, and connections that break.

use std::time::Duration;

use interlock_sync::store::{
    Attempt, Begun, Fingerprint, LeaseAnswer, LeaseRequest, OpId, PermitAnswer, PermitRequest, StoreError,
};

use super::{
    MINUTE, add, apply, key, number, open,
    proxy::{Proxy, Weather},
    put, server,
};
use crate::Options;

#[tokio::test]
async fn a_lost_answer_is_resolved_by_asking_again_and_the_change_is_made_once() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    apply(&*store, &put("a", 0)).await;
    for round in 1..=20 {
        let mutation = add("a", 1);
        proxy.set(Weather::CutNextAnswer);
        let lost = store.mutate(&mutation).await.unwrap_err();
        assert!(lost.is_in_doubt(), "{lost:?}");
        assert_eq!(number(&*store, "a").await, Some(round), "it had arrived");
        assert!(store.applied(&mutation.op).await.unwrap().is_some());
        assert!(apply(&*store, &mutation).await, "the answer is given again");
        assert_eq!(number(&*store, "a").await, Some(round));
    }
    assert_eq!(proxy.connections(), 21, "one connection more for each that was cut");
}

#[tokio::test]
async fn a_lost_question_leaves_the_same_doubt_and_the_change_is_made_once_too() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    apply(&*store, &put("a", 0)).await;
    let mutation = add("a", 1);
    proxy.set(Weather::CutNextQuestion);
    assert!(store.mutate(&mutation).await.unwrap_err().is_in_doubt());
    assert_eq!(store.applied(&mutation.op).await.unwrap(), None);
    assert!(!apply(&*store, &mutation).await, "it had not arrived");
    assert_eq!(number(&*store, "a").await, Some(1));
}

#[tokio::test]
async fn who_lost_the_answer_to_a_lease_a_permit_or_a_reservation_has_it_nevertheless() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;

    let lease = LeaseRequest { key: key("k"), owner: OpId::fresh(), ttl: MINUTE };
    proxy.set(Weather::CutNextAnswer);
    assert!(store.acquire_lease(&lease).await.unwrap_err().is_in_doubt());
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&lease).await.unwrap() else {
        panic!("not ours")
    };
    let other = LeaseRequest { owner: OpId::fresh(), ..lease };
    assert!(
        matches!(store.acquire_lease(&other).await.unwrap(), LeaseAnswer::Held { fence: held, .. } if held == fence)
    );

    let permit = PermitRequest { key: key("k"), holder: OpId::fresh(), limit: 1, ttl: MINUTE };
    proxy.set(Weather::CutNextAnswer);
    assert!(store.acquire_permit(&permit).await.unwrap_err().is_in_doubt());
    assert_eq!(store.acquire_permit(&permit).await.unwrap(), PermitAnswer::Granted { in_use: 1 });

    let (fingerprint, owner) = (Fingerprint([1; 32]), OpId::fresh());
    let attempt = Attempt { key: key("k"), fingerprint, owner, ttl: MINUTE, keep: MINUTE };
    proxy.set(Weather::CutNextAnswer);
    assert!(store.begin(&attempt).await.unwrap_err().is_in_doubt());
    let Begun::Reserved { fence } = store.begin(&attempt).await.unwrap() else { panic!("not ours") };
    proxy.set(Weather::CutNextAnswer);
    assert!(store.dispatch(&key("k"), fence, MINUTE).await.unwrap_err().is_in_doubt());
    assert!(store.dispatch(&key("k"), fence, MINUTE).await.unwrap());
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_leaves_doubt_and_its_connection_is_given_up() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let options = Options { timeout: Duration::from_millis(1500), ..Options::default() };
    let store = crate::open(&proxy.url(), &options).await.unwrap();
    apply(&*store, &put("a", 0)).await;
    let mutation = add("a", 1);
    proxy.set(Weather::SwallowAnswers);
    assert!(store.mutate(&mutation).await.unwrap_err().is_in_doubt());
    let unmade = store.mutate(&mutation).await.unwrap_err();
    assert!(
        matches!(unmade, StoreError::Unavailable { .. }),
        "no new connection was made, so nothing was sent: {unmade:?}"
    );
    proxy.set(Weather::Fair);
    // A loaded machine may need longer than the short time of this test.
    let replayed = loop {
        match store.mutate(&mutation).await {
            Ok(_) => break apply(&*store, &mutation).await,
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
    };
    assert!(replayed);
    assert_eq!(number(&*store, "a").await, Some(1));
}

#[tokio::test]
async fn without_a_server_nothing_is_sent_and_with_another_one_everything_works_again() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    apply(&*store, &put("a", 1)).await;
    proxy.set(Weather::Closed);
    drop(redis);
    let mut errors = vec![];
    for _ in 0..3 {
        errors.push(store.mutate(&add("a", 1)).await.unwrap_err());
    }
    assert!(errors.iter().all(StoreError::is_retryable), "{errors:?}");
    assert!(matches!(errors.last(), Some(StoreError::Unavailable { .. })), "{errors:?}");

    let restarted = server();
    proxy.lead_to(restarted.address());
    proxy.set(Weather::Fair);
    let made = put("a", 7);
    assert!(!apply(&*store, &made).await, "also the scripts are new to it");
    assert_eq!(number(&*store, "a").await, Some(7));
}

#[tokio::test]
async fn a_connection_that_broke_in_silence_costs_nobody_an_answer() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    apply(&*store, &put("a", 0)).await;
    for _ in 0..10 {
        proxy.lead_to(redis.address());
        // The driver hears of it a moment later; until then a command may be handed to the dead connection.
        loop {
            match store.mutate(&add("a", 0)).await {
                Ok(_) => break,
                Err(error) => assert!(error.is_in_doubt(), "{error:?}"),
            }
        }
    }
    assert!(proxy.connections() <= 11, "no more connections than were broken");
}

#[tokio::test]
async fn a_server_that_was_killed_is_unavailable_and_says_where_it_was_looked_for() {
    let redis = server();
    let url = redis.url();
    let store = open(&url).await;
    apply(&*store, &put("a", 1)).await;
    drop(redis);
    let refused = loop {
        match store.mutate(&add("a", 1)).await.unwrap_err() {
            error if error.is_in_doubt() => {}
            error => break error,
        }
    };
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
    assert!(refused.to_string().contains(&url), "{refused}");
    assert!(crate::open(&url, &Options::default()).await.is_err());
}

#[tokio::test]
async fn a_dropped_future_leaves_the_connection_in_order() {
    let redis = server();
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 0)).await;
    let mut expected = 0;
    for round in 0..200_u32 {
        let mutation = add("a", 1);
        {
            let mut future = store.mutate(&mutation);
            // Polled so often and then dropped: before it was sent, while it was under way, or done.
            for _ in 0..round % 5 {
                tokio::select! {
                    biased;
                    _ = &mut future => break,
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        apply(&*store, &mutation).await;
        expected += 1;
        assert_eq!(
            number(&*store, "a").await,
            Some(expected),
            "each is applied once, however far it had come"
        );
    }
}

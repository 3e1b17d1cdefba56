//! A server that was started anew, with and without what it had granted.

use std::time::Duration;

use interlock_sync::store::{Admission, Admitted, OpId, Store, StoreError, Wish};
use interlock_testkit::service::{Redis, Setup};

use super::{MINUTE, key, open, server};

/// Somebody who wants a lock, or nothing.
fn wish(lock: Option<&str>, ttl: Duration) -> Admission {
    Admission {
        call: OpId::fresh(),
        charges: vec![],
        places: vec![],
        locks: lock.into_iter().map(|name| Wish { key: key(name), is_shared: false }).collect(),
        once: None,
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl,
        remember: MINUTE,
        is_again: false,
        patience: Duration::ZERO,
    }
}

/// What becomes of it once the server is there again.
async fn outcome(store: &dyn Store, admission: &Admission) -> Result<Admitted, StoreError> {
    loop {
        match store.admit(admission).await {
            Err(error) if error.is_in_doubt() => {}
            Err(StoreError::Unavailable { reason, .. }) if !reason.contains("was restarted") => {}
            outcome => return outcome,
        }
    }
}

fn restart(redis: &mut Redis) {
    redis.kill().unwrap();
    redis.restart().unwrap();
}

#[tokio::test]
async fn beside_calls_that_a_restarted_server_has_forgotten_nobody_is_let_in() {
    let mut redis = server();
    // Two processes, of which the second one has asked for nothing yet.
    let (first, second) = (open(&redis.url()).await, open(&redis.url()).await);
    let held = first.admit(&wish(Some("a"), MINUTE)).await.unwrap();
    assert!(matches!(held, Admitted::Granted { .. }));
    restart(&mut redis);
    for store in [&first, &second] {
        for lock in ["a", "b"] {
            let refused = outcome(&**store, &wish(Some(lock), MINUTE)).await;
            let Err(StoreError::Unavailable { reason, .. }) = refused else { panic!("{refused:?}") };
            assert!(reason.contains("has forgotten") && reason.contains("appendonly"), "{reason}");
        }
        let free = outcome(&**store, &wish(None, MINUTE)).await;
        assert!(matches!(free, Ok(Admitted::Granted { .. })), "what holds nothing is not refused: {free:?}");
    }
}

#[tokio::test]
async fn once_all_from_before_has_run_out_calls_are_let_in_again() {
    let mut redis = server();
    let store = open(&redis.url()).await;
    let short = Duration::from_secs(1);
    store.admit(&wish(Some("a"), short)).await.unwrap();
    restart(&mut redis);
    assert!(outcome(&*store, &wish(Some("a"), short)).await.is_err());
    let granted = loop {
        match outcome(&*store, &wish(Some("a"), short)).await {
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            Ok(outcome) => break outcome,
        }
    };
    assert!(matches!(granted, Admitted::Granted { .. }), "{granted:?}");
}

#[tokio::test]
async fn a_restarted_server_that_kept_everything_goes_on_at_once() {
    let mut redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).unwrap();
    let store = open(&redis.url()).await;
    store.admit(&wish(Some("a"), MINUTE)).await.unwrap();
    restart(&mut redis);
    let waits = outcome(&*store, &wish(Some("a"), MINUTE)).await;
    assert!(matches!(waits, Ok(Admitted::Waits { .. })), "{waits:?}");
    let granted = outcome(&*store, &wish(Some("b"), MINUTE)).await;
    assert!(matches!(granted, Ok(Admitted::Granted { .. })), "{granted:?}");
}

#[tokio::test]
async fn a_connection_that_broke_is_no_restart() {
    let redis = server();
    let store = open(&redis.url()).await;
    store.admit(&wish(Some("a"), MINUTE)).await.unwrap();
    super::command("CLIENT KILL TYPE normal").exec(&mut super::operator(&redis)).unwrap();
    let waits = outcome(&*store, &wish(Some("a"), MINUTE)).await;
    assert!(matches!(waits, Ok(Admitted::Waits { .. })), "{waits:?}");
}

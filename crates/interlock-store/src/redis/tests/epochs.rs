//! A server that was started anew, emptied or replaced by a replica, with and without what it had granted.

use std::time::Duration;

use interlock_sync::store::{Admission, Admitted, OpId, Store, StoreError, Wish};
use interlock_testkit::service::{Redis, Setup};

use super::{MINUTE, command, key, open, operator, proxy::Proxy, server};

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
            Err(StoreError::Unavailable { reason, .. }) if !reason.contains("has forgotten") => {}
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
    let short = Duration::from_secs(5);
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
    command("CLIENT KILL TYPE normal").exec(&mut operator(&redis)).unwrap();
    let waits = outcome(&*store, &wish(Some("a"), MINUTE)).await;
    assert!(matches!(waits, Ok(Admitted::Waits { .. })), "{waits:?}");
}

/// Refused, because calls may run of which the server knows nothing.
async fn is_refused(store: &dyn Store, lock: &str) {
    let refused = outcome(store, &wish(Some(lock), MINUTE)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{lock}: {refused:?}");
}

pub(super) async fn is_granted(store: &dyn Store, lock: &str) {
    let granted = outcome(store, &wish(Some(lock), MINUTE)).await;
    assert!(matches!(granted, Ok(Admitted::Granted { .. })), "{lock}: {granted:?}");
}

pub(super) async fn is_waiting(store: &dyn Store, lock: &str) {
    let waits = outcome(store, &wish(Some(lock), MINUTE)).await;
    assert!(matches!(waits, Ok(Admitted::Waits { .. })), "{lock}: {waits:?}");
}

#[tokio::test]
async fn beside_calls_of_a_server_that_was_emptied_nobody_is_let_in() {
    for words in ["FLUSHALL", "FLUSHDB ASYNC"] {
        let redis = server();
        let (first, second) = (open(&redis.url()).await, open(&redis.url()).await);
        is_granted(&*first, "a").await;
        is_granted(&*second, "b").await;
        command(words).exec(&mut operator(&redis)).unwrap();
        // Whoever was there notices it, whoever comes first; whoever comes later is told by the server.
        is_refused(&*first, "b").await;
        is_refused(&*second, "c").await;
        is_refused(&*open(&redis.url()).await, "a").await;
        let free = first.admit(&wish(None, MINUTE)).await;
        assert!(matches!(free, Ok(Admitted::Granted { .. })), "what holds nothing is not refused: {free:?}");
    }
}

#[tokio::test]
async fn a_client_that_somebody_came_before_notices_as_well() {
    let redis = server();
    let (first, second) = (open(&redis.url()).await, open(&redis.url()).await);
    is_granted(&*first, "a").await;
    command("FLUSHALL").exec(&mut operator(&redis)).unwrap();
    // It knows of nothing, and begins a new epoch.
    is_granted(&*second, "b").await;
    is_refused(&*first, "c").await;
    is_refused(&*second, "a").await;
}

#[tokio::test]
async fn a_hash_that_went_because_nothing_was_asked_is_no_loss() {
    let redis = server();
    let store = open(&redis.url()).await;
    is_granted(&*store, "a").await;
    command("DEL interlock:{interlock}:calls").exec(&mut operator(&redis)).unwrap();
    is_granted(&*store, "a").await;
    is_granted(&*open(&redis.url()).await, "b").await;
}

/// Two servers, of which the second one has received what the first one had until now, and a way to the first.
async fn replicated(durable: bool) -> (Redis, Redis, Proxy) {
    let start = || Redis::start_as(Setup { durable, ..Setup::default() }).unwrap();
    let (first, second) = (start(), start());
    let proxy = Proxy::to(first.address());
    // What is granted and given back is there on both.
    is_granted(&*open(&proxy.url()).await, "before").await;
    is_granted(&*open(&proxy.url()).await, "kept").await;
    let mut replica = operator(&second);
    command(&format!("REPLICAOF 127.0.0.1 {}", first.address().port())).exec(&mut replica).unwrap();
    let has_it = |replica: &mut redis::Connection| {
        let lock: bool = command("HEXISTS interlock:{interlock}:calls lkept").query(replica).unwrap();
        lock
    };
    while !has_it(&mut replica) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (first, second, proxy)
}

#[tokio::test]
async fn beside_calls_that_a_replica_never_received_nobody_is_let_in() {
    let (first, second, proxy) = replicated(true).await;
    let (known, other) = (open(&proxy.url()).await, open(&proxy.url()).await);
    command("REPLICAOF NO ONE").exec(&mut operator(&second)).unwrap();
    // The first one goes on for a while, and grants what nobody but it will ever know.
    is_granted(&*known, "a").await;
    is_granted(&*other, "b").await;
    drop(first);
    proxy.lead_to(second.address());
    is_refused(&*open(&proxy.url()).await, "a").await;
    is_refused(&*known, "b").await;
    is_refused(&*other, "a").await;
}

#[tokio::test]
async fn a_primary_that_took_over_long_ago_is_no_loss() {
    let (_first, second, _) = replicated(true).await;
    command("REPLICAOF NO ONE").exec(&mut operator(&second)).unwrap();
    // Told once, by whoever comes first; then it is the server that the store knows.
    is_refused(&*open(&second.url()).await, "a").await;
    command("DEL interlock:{interlock}:calls").exec(&mut operator(&second)).unwrap();
    let run: String = command("INFO server").query(&mut operator(&second)).unwrap();
    let run = run.lines().find_map(|line| line.trim().strip_prefix("run_id:")).unwrap().to_owned();
    let row = [&[7; 16][..], run.as_bytes(), &[0; 8]].concat();
    redis::cmd("SET").arg("interlock:{interlock}:calls\ne").arg(row).exec(&mut operator(&second)).unwrap();
    for _ in 0..2 {
        let store = open(&second.url()).await;
        is_granted(&*store, &format!("{:p}", &*store)).await;
        command("CLIENT KILL TYPE normal").exec(&mut operator(&second)).unwrap();
        is_granted(&*store, &format!("again {:p}", &*store)).await;
    }
}

#[tokio::test]
async fn a_guard_that_is_started_after_the_restart_is_told_by_an_old_snapshot() {
    let mut redis = server();
    let store = open(&redis.url()).await;
    is_granted(&*store, "a").await;
    command("SAVE").exec(&mut operator(&redis)).unwrap();
    is_granted(&*store, "b").await;
    drop(store);
    restart(&mut redis);
    let late = open(&redis.url()).await;
    is_refused(&*late, "b").await;
    is_refused(&*late, "c").await;
}

#[tokio::test]
async fn a_new_server_lets_everybody_in() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).unwrap();
    let stores = [open(&redis.url()).await, open(&redis.url()).await];
    for (store, lock) in stores.iter().zip(["a", "b"]) {
        is_granted(&**store, lock).await;
        is_waiting(&**store, "a").await;
    }
}

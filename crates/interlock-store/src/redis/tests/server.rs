//! A server in the hands of its operator: flushed, busy, full, demoted.

use interlock_sync::store::{Change, Mutation, OpId, Store, StoreError};

use super::{add, apply, command, key, number, open, operator, put, server};

/// What a server says that will do again later: nothing has happened, try again.
async fn is_unavailable(store: &dyn Store) -> bool {
    matches!(store.mutate(&add("a", 1)).await, Err(StoreError::Unavailable { .. }))
}

#[tokio::test]
async fn a_server_that_forgot_the_scripts_gets_them_again() {
    let redis = server();
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 0)).await;
    for round in 1..4 {
        command("SCRIPT FLUSH").exec(&mut operator(&redis)).unwrap();
        assert!(!apply(&*store, &add("a", 1)).await);
        assert_eq!(number(&*store, "a").await, Some(round));
    }
}

#[tokio::test]
async fn a_server_without_memory_refuses_and_changes_nothing() {
    let redis = server();
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 0)).await;
    let mut operator = operator(&redis);
    command("CONFIG SET maxmemory 1").exec(&mut operator).unwrap();
    assert!(is_unavailable(&*store).await);
    assert_eq!(number(&*store, "a").await, Some(0));
    command("CONFIG SET maxmemory 0").exec(&mut operator).unwrap();
    apply(&*store, &add("a", 1)).await;
    assert_eq!(number(&*store, "a").await, Some(1));
}

#[tokio::test]
async fn a_server_that_was_demoted_is_unavailable_until_it_is_the_primary_again() {
    let (redis, primary) = (server(), server());
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 0)).await;
    let mut operator = operator(&redis);
    command(&format!("REPLICAOF 127.0.0.1 {}", primary.address().port())).exec(&mut operator).unwrap();
    assert!(is_unavailable(&*store).await, "it refuses to write");
    assert!(is_unavailable(&*store).await, "and a new connection finds out what it is");
    let read = store.get(&key("a")).await;
    assert!(matches!(read, Err(StoreError::Unavailable { .. })), "so nothing old is read: {read:?}");
    command("REPLICAOF NO ONE").exec(&mut operator).unwrap();
    apply(&*store, &put("a", 1)).await;
}

#[tokio::test]
async fn a_server_that_is_busy_with_a_script_is_unavailable_until_that_ends() {
    let redis = server();
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 0)).await;
    command("CONFIG SET lua-time-limit 1").exec(&mut operator(&redis)).unwrap();
    let mut hog = operator(&redis);
    let hogging = std::thread::spawn(move || {
        let endless = redis::cmd("EVAL").arg("while true do end").arg(0).exec(&mut hog);
        assert!(endless.is_err(), "it was killed");
    });
    while !is_unavailable(&*store).await {
        tokio::task::yield_now().await;
    }
    let mut killer = redis::Client::open(redis.url()).unwrap().get_connection();
    while let Err(error) = command("SCRIPT KILL").exec(killer.as_mut().unwrap()) {
        assert!(error.to_string().contains("Busy"), "{error}");
        killer = redis::Client::open(redis.url()).unwrap().get_connection();
    }
    hogging.join().unwrap();
    apply(&*store, &add("a", 1)).await;
}

#[tokio::test]
async fn something_else_in_our_place_is_an_error_and_not_half_a_change() {
    let redis = server();
    let store = open(&redis.url()).await;
    let mut operator = operator(&redis);
    command("SET interlock:{interlock}:records strange").exec(&mut operator).unwrap();
    assert!(matches!(store.mutate(&put("a", 0)).await, Err(StoreError::Broken { .. })));
    assert_eq!(number(&*store, "a").await, None);
    command("DEL interlock:{interlock}:records").exec(&mut operator).unwrap();
    apply(&*store, &put("a", 0)).await;
    for strange in
        ["SET interlock:{interlock}:record:b strange", "HSET interlock:{interlock}:record:c strange 1"]
    {
        command(strange).exec(&mut operator).unwrap();
    }
    for name in ["b", "c"] {
        assert!(matches!(store.mutate(&put(name, 0)).await, Err(StoreError::Broken { .. })));
        assert!(matches!(store.mutate(&add(name, 1)).await, Err(StoreError::Broken { .. })));
        let change = Change::Transfer { from: key("a"), to: key(name), amount: 1, floor: -9 };
        let moved = store.mutate(&Mutation::new(OpId::fresh(), change)).await;
        assert!(matches!(moved, Err(StoreError::Broken { .. })), "{moved:?}");
    }
    assert_eq!(number(&*store, "a").await, Some(0), "not half a transfer");
}

//! Servers, connections and callers that go away in the middle.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use interlock_sync::store::{
    Admission, Admitted, Fingerprint, OnceKey, Places, Settlement, StoreError, Wish,
};
use tokio::task::JoinSet;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn killed_backends_leave_nothing_lost_and_nothing_twice() {
    let store = open("killed").await;
    for name in ["hot", "a", "b"] {
        apply(&store, put(name, 1000)).await;
    }
    let (stop, in_doubt, away) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let (store, stop, in_doubt, away) = (store.clone(), stop.clone(), in_doubt.clone(), away.clone());
        tasks.spawn(async move {
            let mut sent = 0;
            while !stop.load(Ordering::Relaxed) {
                let mutation = fresh(match task % 4 {
                    0 => transfer("a", "b", 1),
                    1 => transfer("b", "a", 1),
                    _ => add("hot", 1, None),
                });
                sent += 1;
                loop {
                    match store.mutate(&mutation).await {
                        Ok(outcome) => break drop(applied(outcome)),
                        Err(StoreError::InDoubt { .. }) => in_doubt.fetch_add(1, Ordering::Relaxed),
                        Err(StoreError::Unavailable { .. }) => away.fetch_add(1, Ordering::Relaxed),
                        Err(broken) => panic!("{broken:?}"),
                    };
                }
            }
            (task % 4 > 1, sent)
        });
    }
    let kill =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'killed'";
    becomes_true("answers are lost", || {
        server().query(kill).unwrap();
        in_doubt.load(Ordering::Relaxed) >= 20
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    let sent = tasks.join_all().await;
    let added: i64 = sent.iter().filter(|(adds, _)| *adds).map(|(_, sent)| sent).sum();
    assert_eq!(number(&store, "hot").await, 1000 + added);
    assert_eq!(number(&store, "a").await + number(&store, "b").await, 2000);
    let all: i64 = sent.iter().map(|(_, sent)| sent).sum();
    assert_eq!(ask("killed", "SELECT count(*) FROM interlock.ops"), all + 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_late_is_in_doubt_and_asking_again_resolves_it() {
    let store = open_with(&Options { timeout: Duration::from_millis(300), ..options("late") }).await;
    apply(&store, put("a", 5)).await;
    apply(&store, put("b", 5)).await;
    let mut client = bystander().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM \"interlock_late\".records FOR UPDATE").await.unwrap();
    let mutations = [fresh(transfer("a", "b", 1)), fresh(add("a", 1, None))];
    for mutation in &mutations {
        let late = store.mutate(mutation).await.unwrap_err();
        assert!(late.is_in_doubt() && late.is_retryable(), "{late:?}");
    }
    assert_eq!(number(&store, "a").await, 5, "a read waits for nobody, on another connection");
    becomes_true("what nobody waits for is stopped", || waiting("late") == 0).await;
    lock.commit().await.unwrap();
    for mutation in &mutations {
        let first = applied(store.mutate(mutation).await.unwrap());
        let again = applied(store.mutate(mutation).await.unwrap());
        assert_eq!((first.changed, again.replayed), (again.changed, true));
    }
    assert_eq!((number(&store, "a").await, number(&store, "b").await), (5, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_future_never_poisons_the_pool() {
    let store = open("dropped").await;
    for name in ["a", "b"] {
        apply(&store, put(name, 1000)).await;
    }
    let mut client = bystander().await;
    for round in 0..3 {
        // More than there are connections, so that some are dropped while they wait for one.
        let lock = client.transaction().await.unwrap();
        lock.batch_execute("SELECT FROM \"interlock_dropped\".records FOR UPDATE").await.unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..40 {
            let store = store.clone();
            tasks.spawn(async move { store.mutate(&fresh(transfer("a", "b", 1))).await });
        }
        becomes_true("they wait", || waiting("dropped") > 4).await;
        tasks.shutdown().await;
        assert_eq!(number(&store, "a").await, 1000, "round {round}: the next borrower waits for nobody");
        becomes_true("they are stopped", || waiting("dropped") == 0).await;
        lock.commit().await.unwrap();
    }
    // Dropped at moments that nobody chooses: before, while and after the statement runs.
    let mut tasks = JoinSet::new();
    for nth in 0..200 {
        let store = store.clone();
        tasks.spawn(async move {
            let limit = Duration::from_micros(nth * 50);
            let _ = tokio::time::timeout(limit, store.mutate(&fresh(transfer("a", "b", 1)))).await;
        });
    }
    tasks.join_all().await;
    apply(&store, transfer("b", "a", 1)).await;
    let (a, b) = (number(&store, "a").await, number(&store, "b").await);
    assert_eq!(a + b, 2000);
    assert!(store.line.pool.status().size <= store.line.pool.status().max_size);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_with_a_stranger_is_resolved_without_the_caller() {
    let store = open("stranger").await;
    apply(&store, put("a", 10)).await;
    apply(&store, put("b", 10)).await;
    let mut client = bystander().await;
    client.batch_execute("SET deadlock_timeout = '1h'").await.unwrap();
    let stranger = client.transaction().await.unwrap();
    let lock = |name| format!("SELECT FROM \"interlock_stranger\".records WHERE key = '{name}' FOR UPDATE");
    stranger.batch_execute(&lock("b")).await.unwrap();
    let transferring = tokio::spawn({
        let store = store.clone();
        async move { store.mutate(&fresh(transfer("a", "b", 1))).await }
    });
    becomes_true("the transfer waits", || waiting("stranger") == 1).await;
    stranger.batch_execute(&lock("a")).await.unwrap();
    stranger.commit().await.unwrap();
    applied(transferring.await.unwrap().unwrap());
    assert_eq!((number(&store, "a").await, number(&store, "b").await), (9, 11));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_is_unavailable() {
    let own = Postgres::start().unwrap();
    let store =
        connect(&own.url(), &Options { timeout: Duration::from_secs(5), ..options("own") }).await.unwrap();
    apply(&store, put("a", 1)).await;
    drop(own);
    let wanted = fresh(add("a", 1, None));
    let mut last = None;
    for _ in 0..20 {
        last = Some(store.mutate(&wanted).await.unwrap_err());
        if matches!(last, Some(StoreError::Unavailable { .. })) {
            break;
        }
    }
    assert!(matches!(last, Some(StoreError::Unavailable { .. })), "{last:?}");
    assert!(matches!(store.get(&key("a")).await, Err(StoreError::Unavailable { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_schema_is_broken_and_a_refused_read_has_no_effect() {
    let store = open("broken").await;
    server().query("DROP SCHEMA \"interlock_broken\" CASCADE").unwrap();
    for error in [
        store.get(&key("a")).await.unwrap_err(),
        store.mutate(&fresh(put("a", 1))).await.unwrap_err(),
        store.mutate(&fresh(add("a", 1, None))).await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Broken { .. }), "{error:?}");
        assert!(!error.is_retryable());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_is_folded_to_what_a_caller_can_do() {
    let store = open("codes").await;
    let raises = "CREATE OR REPLACE FUNCTION \"interlock_codes\".renew_permit(wanted text, asker bytea, ttl bigint) RETURNS boolean \
        LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = wanted; END $$";
    server().query(raises).unwrap();
    let nothing_happened = ["40001", "40P01", "25006", "53100", "53200", "55P03", "57014", "57P01"];
    let nobody_knows = ["08006", "08P01", "40003"];
    let for_good = ["22003", "42501", "23505", "P0001", "XX000"];
    for code in nothing_happened.into_iter().chain(nobody_knows).chain(for_good) {
        let error = store.renew_permit(&key(code), &OpId(1), Duration::ZERO).await.unwrap_err();
        let expected = match &error {
            StoreError::Unavailable { .. } => nothing_happened.contains(&code),
            StoreError::InDoubt { .. } => nobody_knows.contains(&code),
            StoreError::Broken { .. } => for_good.contains(&code),
            other => panic!("{other:?} is of a kind that is new"),
        };
        assert!(expected, "{code}: {error:?}");
    }
    assert!(store.now().await.is_ok(), "the pool is as good as before");
}

/// Before its end was durable, a crash brought the lock of a call back that had ended, for as long as calls may take.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_gave_back_is_free_after_a_crash_of_the_server() {
    let mut own = Postgres::start().unwrap();
    // Nobody writes out in the background what a transaction did not wait for.
    own.query("ALTER SYSTEM SET wal_writer_delay = '10s'").unwrap();
    own.query("SELECT pg_reload_conf()").unwrap();
    let hour = Duration::from_secs(3600);
    let call = |name: &str| Admission {
        places: vec![Places { key: key(name), limit: 1 }],
        locks: vec![Wish { key: key(name), is_shared: false }],
        once: Some(OnceKey { key: key(name), fingerprint: Fingerprint([1; 32]), keep: hour }),
        ..Admission::new(OpId::fresh(), hour)
    };
    let end = |call: &Admission, fence| Settlement {
        fence,
        places: vec![call.places[0].key.clone()],
        locks: vec![call.locks[0].key.clone()],
        ..Settlement::never_ran(call.call)
    };
    {
        let store = connect(&own.url(), &options("crash")).await.unwrap();
        let ended = Admission { once: None, ..call("ended") };
        let Admitted::Granted { fence } = store.admit(&ended).await.unwrap() else { panic!("it is free") };
        assert!(store.settle(&end(&ended, Some(fence))).await.unwrap());
        own.kill().unwrap();
        own.restart().unwrap();
    }
    {
        let store = connect(&own.url(), &options("crash")).await.unwrap();
        let again = store.admit(&call("ended")).await.unwrap();
        assert!(matches!(again, Admitted::Granted { .. }), "{again:?}");
        // One that never ran, which gives its key back as well.
        let never_ran = call("never ran");
        assert!(matches!(store.admit(&never_ran).await.unwrap(), Admitted::Granted { .. }));
        let gives_back = Settlement { once: Some((key("never ran"), None, hour)), ..end(&never_ran, None) };
        assert!(store.settle(&gives_back).await.unwrap());
        own.kill().unwrap();
        own.restart().unwrap();
    }
    let store = connect(&own.url(), &options("crash")).await.unwrap();
    let again = store.admit(&call("never ran")).await.unwrap();
    assert!(matches!(again, Admitted::Granted { .. }), "{again:?}");
}

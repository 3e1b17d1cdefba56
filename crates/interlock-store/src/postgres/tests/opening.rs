//! Opening: once for all, apart from each other, and not at any price.

use std::{error::Error, num::NonZeroUsize};

use interlock_sync::store::Store;
use tokio::task::JoinSet;

use super::*;
use crate::OpenError;

#[tokio::test(flavor = "multi_thread")]
async fn eight_stores_that_open_at_once_migrate_once() {
    let mut opening = JoinSet::new();
    for _ in 0..8 {
        opening.spawn(open("eight"));
    }
    let stores = opening.join_all().await;
    assert_eq!(ask("eight", "SELECT count(*) FROM interlock.about"), 1);
    for (written, store) in (1..).zip(&stores) {
        apply(store, put("a", written)).await;
    }
    assert_eq!(number(&stores[0], "a").await, 8, "they all speak to one");
    assert!(open("eight").await.get(&key("a")).await.unwrap().is_some(), "opening again keeps what is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_never_meet() {
    let long = "n".repeat(62);
    let names =
        ["apart", "Apart", "apart-1", "pg_catalog", "public", &format!("{long}a"), &format!("{long}b")];
    let mut stores = vec![];
    for name in names {
        stores.push(open(name).await);
    }
    let op = OpId::fresh();
    for (written, store) in (1..).zip(&stores) {
        let outcome = store.mutate(&Mutation::new(op, put("a", written))).await.unwrap();
        assert!(!applied(outcome).replayed, "an id of another namespace is not known here");
    }
    for (written, store) in (1..).zip(&stores) {
        assert_eq!(number(store, "a").await, written);
        assert_eq!(store.list("", None, 10).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_refused_and_left_alone() {
    drop(open("newer").await);
    server().query("UPDATE \"interlock_newer\".about SET version = 1000").unwrap();
    let refused = connect(&server().url(), &options("newer")).await.unwrap_err();
    assert!(refused.source().unwrap().to_string().contains("has version 1000"), "{refused:?}");
    assert_eq!(ask("newer", "SELECT version FROM interlock.about"), 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_was_made_beforehand_is_used() {
    server().query("CREATE SCHEMA \"interlock_beforehand\"").unwrap();
    apply(&*open("beforehand").await, put("a", 1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_fails_leaves_nothing_behind() {
    server().query("CREATE SCHEMA \"interlock_half\"; CREATE TABLE \"interlock_half\".logs ()").unwrap();
    assert!(connect(&server().url(), &options("half")).await.is_err());
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'interlock_half'";
    assert_eq!(server().query(tables).unwrap(), "1");
    server().query("DROP TABLE \"interlock_half\".logs").unwrap();
    apply(&*open("half").await, put("a", 1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_or_unsuitable_is_told_apart_from_a_wrong_url() {
    let url = |rest: &str| format!("postgres://postgres@{rest}");
    let address = server().address();
    for away in [url("127.0.0.1:1/postgres"), url(&format!("{address}/nowhere"))] {
        let refused = connect(&away, &options("away")).await.unwrap_err();
        assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused:?}");
    }
    let tls = connect(&format!("{}?sslmode=require", server().url()), &options("away")).await.unwrap_err();
    assert!(matches!(tls, OpenError::Unreachable { .. }), "{tls:?}");
    assert!(format!("{tls:?}").contains("does not support TLS"), "{tls:?}");

    let serializable = "options=-c%20default_transaction_isolation%3Dserializable";
    let refused = connect(&format!("{}?{serializable}", server().url()), &options("away")).await.unwrap_err();
    assert!(refused.source().unwrap().to_string().contains("read committed"), "{refused:?}");

    server().query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0").unwrap();
    let refused = connect(&url(&format!("{address}/latin")), &options("away")).await.unwrap_err();
    assert!(refused.source().unwrap().to_string().contains("LATIN1"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_in_a_session_that_a_pooling_proxy_could_hand_to_another() {
    let store = open("traces").await;
    apply(&store, put("a", 1)).await;
    apply(&store, add("a", 1, None)).await;
    store.append(&OpId::fresh(), &key("log"), b"x").await.unwrap().place().unwrap();
    store.sweep().await.unwrap();
    let client = store.line.pool.get().await.unwrap();
    let traces = "SELECT (SELECT count(*) FROM pg_prepared_statements WHERE name <> '') \
        + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) \
        + (SELECT count(*) FROM pg_settings WHERE source = 'session' AND name <> 'application_name')";
    let row = client.query_typed_one(traces, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_connections_are_open_than_told_however_many_ask() {
    let most = NonZeroUsize::new(3).unwrap();
    let store = open_with(&options("pool").connections(most)).await;
    apply(&store, put("a", 0)).await;
    // Whoever holds this keeps every connection busy, so that all that may be opened are.
    let other = bystander().await;
    other.batch_execute("BEGIN; LOCK TABLE \"interlock_pool\".records").await.unwrap();
    let reads: Vec<_> = (0..40)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { number(&store, "a").await })
        })
        .collect();
    becomes_true("all connections wait", || waiting("pool") == 3).await;
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pool'";
    assert_eq!(server().query(open).unwrap(), "3");
    other.batch_execute("COMMIT").await.unwrap();
    for read in reads {
        assert_eq!(read.await.unwrap(), 0, "the others waited, and were served");
    }
    assert_eq!(server().query(open).unwrap(), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absurd_number_of_connections_is_no_reason_to_fall_over() {
    let store = open_with(&options("absurd").connections(NonZeroUsize::MAX)).await;
    apply(&store, put("a", 1)).await;
}

//! What is refused when a store is opened, and with which words.

use std::error::Error;

use super::{apply, command, number, open, operator, put, server};
use crate::{OpenError, Options};

/// An error with everything that lies behind it.
async fn why_not(url: &str) -> String {
    let error = crate::open(url, &Options::default()).await.expect_err("it is refused");
    let mut words = error.to_string();
    let mut behind: Option<&dyn Error> = error.source();
    while let Some(error) = behind {
        words = format!("{words}: {error}");
        behind = error.source();
    }
    words
}

#[tokio::test]
async fn a_url_that_makes_no_sense_is_refused_before_anything_is_sent() {
    for url in ["redis://", "redis:", "redis://host/not-a-number", "redis://host:port"] {
        let error = crate::open(url, &Options::default()).await.unwrap_err();
        assert!(matches!(error, OpenError::Malformed { .. }), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn a_parameter_that_nobody_keeps_to_is_refused() {
    let redis = server();
    for rest in ["?timeout=1s", "/0?protocol=resp2", "/0#insecure", "#insecure"] {
        for scheme in ["redis", "rediss"] {
            let url = format!("{scheme}://{}{rest}", redis.address());
            let error = crate::open(&url, &Options::default()).await.unwrap_err();
            assert!(matches!(error, OpenError::Malformed { .. }), "{url}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_plain_server_is_not_taken_for_one_under_tls() {
    let redis = server();
    let words = why_not(&format!("rediss://u:secret@{}", redis.address())).await;
    assert!(words.contains("failed to open") && !words.contains("secret"), "{words}");
}

#[tokio::test]
async fn a_server_that_evicts_is_refused() {
    let redis = server();
    let mut operator = operator(&redis);
    for policy in ["allkeys-lru", "volatile-ttl"] {
        command(&format!("CONFIG SET maxmemory-policy {policy}")).exec(&mut operator).unwrap();
        command("CONFIG SET maxmemory 0").exec(&mut operator).unwrap();
        open(&redis.url()).await;
        command("CONFIG SET maxmemory 1gb").exec(&mut operator).unwrap();
        let words = why_not(&redis.url()).await;
        assert!(words.contains(policy) && words.contains("noeviction"), "{words}");
    }
}

#[tokio::test]
async fn a_replica_is_refused() {
    let (redis, primary) = (server(), server());
    let port = primary.address().port();
    command(&format!("REPLICAOF 127.0.0.1 {port}")).exec(&mut operator(&redis)).unwrap();
    let words = why_not(&redis.url()).await;
    assert!(words.contains("not the primary"), "{words}");
}

#[tokio::test]
async fn a_password_is_needed_where_there_is_one_and_never_told() {
    let redis = server();
    command("CONFIG SET requirepass s3cret").exec(&mut operator(&redis)).unwrap();
    let address = redis.address();
    for url in [redis.url(), format!("redis://:wrong-one@{address}")] {
        let words = why_not(&url).await;
        assert!(words.contains("refused the connection") && !words.contains("wrong-one"), "{words}");
    }
    let store = open(&format!("redis://:s3cret@{address}")).await;
    apply(&*store, &put("a", 1)).await;
    assert!(!format!("{store:?}").contains("s3cret"));
}

#[tokio::test]
async fn an_account_that_may_not_look_around_can_use_a_store_under_its_own_keys() {
    let redis = server();
    let rights = "ACL SETUSER app on >pw ~interlock:{interlock}:* +@all -@admin -@dangerous";
    command(rights).exec(&mut operator(&redis)).unwrap();
    let store = open(&format!("redis://app:pw@{}", redis.address())).await;
    apply(&*store, &put("a", 1)).await;
    assert_eq!(number(&*store, "a").await, Some(1));
    let words = why_not(&format!("redis://app:pw@{}/1x", redis.address())).await;
    assert!(words.contains("not understood"), "{words}");
}

#[tokio::test]
async fn namespaces_and_databases_are_apart() {
    let redis = server();
    let store = open(&redis.url()).await;
    apply(&*store, &put("a", 1)).await;
    let other = Options { namespace: "other".into(), ..Options::default() };
    let other = crate::open(&redis.url(), &other).await.unwrap();
    assert_eq!(number(&*other, "a").await, None);
    let database = open(&format!("{}/1", redis.url())).await;
    assert_eq!(number(&*database, "a").await, None);
    assert_eq!(number(&*open(&redis.url()).await, "a").await, Some(1));
}

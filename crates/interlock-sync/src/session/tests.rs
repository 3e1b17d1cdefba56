//! Counters of sessions, in memory and in a store.

use std::sync::Arc;

use super::*;
use crate::{
    memory::MemoryStore,
    store::{Change, Content, Expect, Key, Mutation, OpId, Store},
};

#[test]
fn parallel_additions_are_all_counted_and_each_sees_another_number() {
    let counters: SessionCounters<String> = SessionCounters::new(2);
    let seen: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let add = |_| match counters.add("s", 1) {
                    Added::Now(value) => value,
                    other => panic!("{other:?}"),
                };
                scope.spawn(move || (0..1_000).map(add).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut sorted = seen;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(1..=4_000));
    assert_eq!(counters.get("s"), Some(4_000));
}

#[test]
fn an_addition_stops_at_its_bounds_and_says_where_it_stands() {
    let counters: SessionCounters<&str> = SessionCounters::new(2);
    assert_eq!(counters.add_within(&"s", 6, 0..=5), Added::OutOfBounds { current: 0 });
    assert!(counters.is_empty(), "a refusal makes no session");
    assert_eq!(counters.add_within(&"s", 5, 0..=5), Added::Now(5));
    assert_eq!(counters.add_within(&"s", -6, 0..=5), Added::OutOfBounds { current: 5 });
    assert_eq!(counters.add(&"s", i64::MAX), Added::OutOfBounds { current: 5 });
    assert_eq!(counters.add_saturating(&"s", i64::MAX), Added::Now(i64::MAX));
    assert_eq!(counters.add_saturating(&"t", i64::MIN), Added::Now(i64::MIN));
    assert_eq!(counters.add_saturating(&"t", -1), Added::Now(i64::MIN));
}

#[test]
fn no_more_sessions_than_the_capacity_are_counted_and_those_that_are_stay() {
    let counters: SessionCounters<u64> = SessionCounters::new(100);
    let full: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread: u64| {
                let counters = &counters;
                let add = move |session: u64| {
                    usize::from(counters.add(&(thread * 1_000 + session), 1) == Added::Full)
                };
                scope.spawn(move || (0..1_000).map(add).sum::<usize>())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((counters.len(), full), (100, 3_900));
    let kept = (0..4_000_u64).find(|session| counters.get(session).is_some()).unwrap();
    assert_eq!(counters.add(&kept, 1), Added::Now(2));
    assert_eq!(counters.forget(&kept), Some(2));
    assert_eq!(counters.forget(&kept), None);
    assert_eq!(counters.add(&9_999, 1), Added::Now(1), "there is room for one");
    assert_eq!(counters.add(&9_998, 1), Added::Full);
}

#[test]
fn what_was_not_touched_between_two_looks_is_forgotten() {
    let counters: SessionCounters<&str> = SessionCounters::new(10);
    counters.add(&"busy", 1);
    counters.add(&"idle", 1);
    assert_eq!(counters.forget_idle(), 0, "both are new");
    counters.add(&"busy", 1);
    assert_eq!(counters.forget_idle(), 1);
    assert_eq!((counters.get(&"busy"), counters.get(&"idle"), counters.len()), (Some(2), None, 1));
    assert_eq!((counters.forget_idle(), counters.len()), (1, 0));
}

fn stored() -> (Arc<MemoryStore>, StoredCounters) {
    let store = Arc::new(MemoryStore::default());
    (Arc::clone(&store), StoredCounters::new(store, "calls:"))
}

#[tokio::test]
async fn in_a_store_the_first_addition_makes_the_counter_and_one_id_counts_once() {
    let (_, counters) = stored();
    let op = OpId::fresh();
    assert_eq!(counters.get("s").await.unwrap(), None);
    assert_eq!(counters.add("s", 5, op).await.unwrap(), StoredAdded::Now(5));
    assert_eq!(counters.add("s", 2, OpId::fresh()).await.unwrap(), StoredAdded::Now(7));
    assert_eq!(counters.add("s", 5, op).await.unwrap(), StoredAdded::Now(5), "it stood there after this id");
    assert_eq!(counters.get("s").await.unwrap(), Some(7));
    assert_eq!(counters.add("s", i64::MAX, OpId::fresh()).await.unwrap(), StoredAdded::Overflow);
    assert!(counters.forget("s").await.unwrap());
    assert!(!counters.forget("s").await.unwrap());
    assert_eq!(
        counters.add("s", 5, op).await.unwrap(),
        StoredAdded::Now(5),
        "also after the end of the session"
    );
    assert_eq!(counters.get("s").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_a_store_parallel_first_additions_are_all_counted() {
    let (_, counters) = stored();
    let counters = Arc::new(counters);
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let counters = Arc::clone(&counters);
            tokio::spawn(async move { counters.add("s", 1, OpId::fresh()).await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert!(matches!(task.await.unwrap(), StoredAdded::Now(1..=64)));
    }
    assert_eq!(counters.get("s").await.unwrap(), Some(64));
}

#[tokio::test]
async fn in_a_store_idle_sessions_are_forgotten_and_nothing_else_is() {
    let (store, counters) = stored();
    let other = Key::new("other").unwrap();
    let put = Change::Put { key: other.clone(), expect: Expect::Absent, content: Content::Number(1) };
    store.mutate(&Mutation::new(OpId::fresh(), put)).await.unwrap();
    for session in 0..600 {
        counters.add(&session.to_string(), 1, OpId::fresh()).await.unwrap();
    }
    assert_eq!(counters.forget_idle().await.unwrap(), 0);
    counters.add("17", 1, OpId::fresh()).await.unwrap();
    counters.add("new", 1, OpId::fresh()).await.unwrap();
    assert_eq!(counters.forget_idle().await.unwrap(), 599);
    assert_eq!(counters.get("17").await.unwrap(), Some(2));
    assert_eq!(counters.get("new").await.unwrap(), Some(1));
    assert_eq!(counters.forget_idle().await.unwrap(), 2);
    assert!(store.get(&other).await.unwrap().is_some());
}

#[tokio::test]
async fn in_a_store_a_bad_name_or_somebody_elses_record_is_an_error() {
    let (store, counters) = stored();
    let add = counters.add(&"x".repeat(600), 1, OpId::fresh()).await;
    assert!(matches!(add, Err(SessionError::Name(_))));
    let key = Key::new("calls:text").unwrap();
    let put = Change::Put { key, expect: Expect::Absent, content: Content::Bytes(b"x".to_vec()) };
    store.mutate(&Mutation::new(OpId::fresh(), put)).await.unwrap();
    assert!(matches!(counters.add("text", 1, OpId::fresh()).await, Err(SessionError::NotACounter(_))));
    assert!(matches!(counters.get("text").await, Err(SessionError::NotACounter(_))));
}

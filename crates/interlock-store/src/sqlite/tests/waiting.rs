//! What becomes of an operation when nobody waits for it, or nobody serves it.

use std::{slice, sync::Arc, time::Duration};

use interlock_sync::store::{Outcome, Reply, Store, StoreError};

use super::{Blocked, Scene, applies, key, put, start};

#[tokio::test]
async fn an_operation_that_was_handed_over_takes_effect_also_if_its_future_is_dropped() {
    let scene = Scene::new();
    let store = scene.open();
    let blocked = Blocked::new(&store).await;
    let (sent, unsent) = (put("sent", 1), put("unsent", 1));
    let mut reply = store.mutate(&sent);
    start(slice::from_mut(&mut reply)).await;
    drop(reply);
    drop(store.mutate(&unsent));
    drop(blocked);
    assert!(store.applied(&sent.op).await.unwrap().is_some());
    assert_eq!(store.applied(&unsent.op).await.unwrap(), None);
}

#[tokio::test]
async fn asking_what_was_applied_queues_behind_what_was_handed_over() {
    let scene = Scene::new();
    let store = scene.open();
    let blocked = Blocked::new(&store).await;
    let put = put("a", 1);
    let mut reply = store.mutate(&put);
    start(slice::from_mut(&mut reply)).await;
    drop(reply);
    let mut asked = store.applied(&put.op);
    start(slice::from_mut(&mut asked)).await;
    drop(blocked);
    assert!(asked.await.unwrap().is_some(), "it was on its way when it was asked for");
}

#[tokio::test]
async fn a_full_queue_makes_callers_wait_unsent() {
    let scene = Scene::new();
    let store = scene.open();
    let blocked = Blocked::new(&store).await;
    let puts: Vec<_> = (0..1025).map(|n| put(&format!("account-{n}"), 1)).collect();
    let mut replies: Vec<Reply<'_, Outcome>> = puts.iter().map(|put| store.mutate(put)).collect();
    start(&mut replies).await;
    drop(replies);
    drop(blocked);
    let (last, before) = puts.split_last().unwrap();
    assert_eq!(store.applied(&last.op).await.unwrap(), None);
    for put in before {
        assert!(store.applied(&put.op).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_is_in_doubt_and_asking_settles_it() {
    let mut scene = Scene::new();
    scene.options.timeout = Duration::from_secs(1);
    let slow = scene.open();
    scene.options.timeout = Duration::from_secs(120);
    let patient = scene.open();
    assert!(applies(&*patient, &put("other", 1)).await);
    let blocked = Blocked::new(&slow).await;
    let put = put("a", 1);
    let lost = slow.mutate(&put).await.unwrap_err();
    assert!(lost.is_in_doubt(), "{lost:?}");
    drop(blocked);
    // Its time was over before its turn came, so it never runs; and whoever asks with it is behind it in the queue.
    loop {
        match slow.applied(&put.op).await {
            Ok(applied) => break assert_eq!(applied, None),
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
    }
    assert_eq!(patient.applied(&put.op).await.unwrap(), None);
}

#[tokio::test]
async fn a_file_that_another_process_keeps_is_unavailable_and_nothing_takes_effect_later() {
    let mut scene = Scene::new();
    scene.options.timeout = Duration::from_secs(2);
    let store = scene.open();
    let other = scene.bare();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let put = put("a", 1);
    let refused = store.mutate(&put).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
    assert_eq!(store.get(&key("a")).await.unwrap(), None, "reading goes on meanwhile");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.applied(&put.op).await.unwrap(), None);
    assert!(applies(&*store, &put).await, "the same id may be tried again");
}

#[tokio::test]
async fn a_file_that_another_process_gives_back_is_worth_the_wait() {
    let scene = Scene::new();
    let store = scene.open();
    let other = scene.bare();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let put = put("a", 1);
    let mut reply = store.mutate(&put);
    start(slice::from_mut(&mut reply)).await;
    other.execute_batch("COMMIT").unwrap();
    assert!(matches!(reply.await.unwrap(), Outcome::Applied(_)));
}

#[tokio::test]
async fn the_thread_ends_with_the_store_and_finishes_what_it_took() {
    let scene = Scene::new();
    let store = scene.open();
    let other = scene.bare();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let puts: Vec<_> = (0..10).map(|n| put(&format!("account-{n}"), 1)).collect();
    let mut replies: Vec<Reply<'_, Outcome>> = puts.iter().map(|put| store.mutate(put)).collect();
    start(&mut replies).await;
    drop(replies);
    let weak = Arc::downgrade(&store);
    drop(store);
    assert!(weak.upgrade().is_none());
    other.execute_batch("COMMIT").unwrap();
    while Arc::strong_count(&scene.clock) > 2 {
        tokio::task::yield_now().await;
    }
    let store = scene.open();
    for put in puts {
        assert!(store.applied(&put.op).await.unwrap().is_some());
    }
}

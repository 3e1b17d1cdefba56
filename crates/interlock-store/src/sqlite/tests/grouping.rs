//! Operations that wait share a commit, and nothing else.

use std::{slice, time::Duration};

use interlock_sync::store::{OpId, Outcome, Reply, Store};
use rusqlite::Error;

use super::{Blocked, Scene, applies, key, number, put, start, transfer};

#[tokio::test]
async fn what_waits_is_committed_together_and_answered_each() {
    let scene = Scene::new();
    let store = scene.open();
    let blocked = Blocked::new(&store).await;
    let before = store.writer.commits();
    let mutations: Vec<_> = (0..64).map(|n| put(&format!("account-{n}"), n)).collect();
    let mut replies: Vec<Reply<'_, Outcome>> = mutations.iter().map(|put| store.mutate(put)).collect();
    start(&mut replies).await;
    drop(blocked);
    for reply in replies {
        assert!(matches!(reply.await.unwrap(), Outcome::Applied(_)));
    }
    assert_eq!(store.writer.commits() - before, 1, "what came while another ran shares its commit");
    for n in 0..64 {
        assert_eq!(number(&*store, &format!("account-{n}")).await, n);
    }
}

#[tokio::test]
async fn what_comes_alone_is_committed_alone() {
    let scene = Scene::new();
    let store = scene.open();
    for n in 0..5 {
        assert!(applies(&*store, &put(&format!("account-{n}"), 1)).await);
        assert_eq!(store.writer.commits(), n + 1);
    }
}

#[tokio::test]
async fn operations_of_one_commit_see_each_other_in_their_order() {
    let scene = Scene::new();
    let store = scene.open();
    assert!(applies(&*store, &put("a", 10)).await && applies(&*store, &put("b", 0)).await);
    let blocked = Blocked::new(&store).await;
    let all_of_it = [transfer("a", "b", 10), transfer("a", "b", 10), transfer("b", "a", 10)];
    let mut replies: Vec<Reply<'_, Outcome>> = all_of_it.iter().map(|all| store.mutate(all)).collect();
    start(&mut replies).await;
    drop(blocked);
    let mut applied = vec![];
    for reply in replies {
        applied.push(matches!(reply.await.unwrap(), Outcome::Applied(_)));
    }
    assert_eq!(applied, [true, false, true]);
}

#[tokio::test]
async fn an_operation_that_fails_half_way_is_taken_back_alone() {
    let scene = Scene::new();
    let store = scene.open();
    let log = key("log");
    let blocked = Blocked::new(&store).await;
    let before = store.writer.commits();
    let ids = [OpId::fresh(), OpId::fresh(), OpId::fresh()];
    let mut first = store.append(&ids[0], &log, b"first");
    let mut fails: Reply<'_, ()> = {
        let log = log.clone();
        Box::pin(store.writer.run(move |tables| {
            tables.append(ids[1], &log, b"half", Duration::MAX)?;
            Err(Error::InvalidQuery)
        }))
    };
    let mut last = store.append(&ids[2], &log, b"last");
    start(slice::from_mut(&mut first)).await;
    start(slice::from_mut(&mut fails)).await;
    start(slice::from_mut(&mut last)).await;
    drop(blocked);
    assert!(first.await.is_ok() && last.await.is_ok());
    let error = fails.await.unwrap_err();
    assert!(!error.is_in_doubt(), "{error:?}");
    assert_eq!(store.writer.commits() - before, 1);
    let entries = store.read_log(&log, 0, 9).await.unwrap();
    assert_eq!(entries.iter().map(|entry| &*entry.entry).collect::<Vec<_>>(), [&b"first"[..], b"last"]);
}

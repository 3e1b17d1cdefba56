//! Hot records: what travels together is still each caller's own.

use std::collections::HashMap;

use interlock_sync::store::{Fence, LeaseAnswer, LeaseRequest, Refusal, Version};
use tokio::task::JoinSet;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn folded_additions_equal_their_sum_and_each_id_counts_once() {
    let stores = [open("sum").await, open("sum").await];
    let before = apply(&stores[0], put("hot", 0)).await.changed[0].to;
    let mut tasks = JoinSet::new();
    for caller in 0..32_i64 {
        let store = stores[caller as usize % 2].clone();
        tasks.spawn(async move {
            let mut answers = vec![];
            for round in 0..20 {
                let mutation = fresh(add("hot", caller + round, None));
                let first = applied(store.mutate(&mutation).await.unwrap());
                let again = applied(store.mutate(&mutation).await.unwrap());
                assert_eq!((&again.changed, again.replayed), (&first.changed, true));
                answers.push((caller + round, first.changed[0].clone()));
            }
            answers
        });
    }
    let answers: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    let sum: i64 = answers.iter().map(|(delta, _)| delta).sum();
    assert_eq!(number(&stores[0], "hot").await, sum);
    assert_eq!(ask("sum", "SELECT count(*) FROM interlock.ops"), 32 * 20 + 1);

    // Each answer starts where another has ended: together they are one line of changes, as if they had come one by one.
    let by_start: HashMap<Option<Version>, _> =
        answers.iter().map(|(delta, changed)| (changed.from, (*delta, changed))).collect();
    let (mut at, mut total) = (before, 0);
    for _ in 0..answers.len() {
        let (delta, changed) = by_start[&at];
        total += delta;
        assert_eq!(changed.number, Some(total));
        assert!(changed.to > at);
        at = changed.to;
    }
    assert_eq!(stores[1].get(&key("hot")).await.unwrap().map(|record| record.version), at);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_folded_debit_has_its_own_floor() {
    let store = open("floors").await;
    apply(&store, put("hot", 100)).await;
    let mut tasks = JoinSet::new();
    for caller in 0..40 {
        let store = store.clone();
        // The even ones may go down to nothing, the odd ones only to 50, and a credit is never refused.
        let floor = if caller % 2 == 0 { 0 } else { 50 };
        tasks.spawn(async move { (floor, store.mutate(&fresh(add("hot", -3, Some(floor)))).await.unwrap()) });
    }
    let mut spent = 0;
    for (floor, outcome) in tasks.join_all().await {
        match outcome {
            Outcome::Applied(applied) => {
                spent += 3;
                assert!(applied.changed[0].number >= Some(floor), "{applied:?}");
            }
            Outcome::Refused(Refusal::Short { available, .. }) => assert!(available - 3 < floor),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(number(&store, "hot").await, 100 - spent);
    apply(&store, add("hot", 1, Some(i64::MAX))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_refused_does_not_take_the_others_along() {
    let store = open("company").await;
    apply(&store, put("hot", 10)).await;
    apply(&store, Change::Put { key: key("text"), expect: Expect::Any, content: Content::Bytes(vec![1]) })
        .await;
    // The record is locked while they gather, so that they travel together.
    let mut client = bystander().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM \"interlock_company\".records FOR UPDATE").await.unwrap();
    let mut tasks = JoinSet::new();
    for (place, delta) in [1, i64::MAX, -100, 5, i64::MIN].into_iter().enumerate() {
        let store = store.clone();
        tasks.spawn(async move { (place, store.mutate(&fresh(add("hot", delta, Some(0)))).await.unwrap()) });
    }
    let twin = fresh(add("hot", 7, None));
    for _ in 0..2 {
        let (store, twin) = (store.clone(), twin.clone());
        tasks.spawn(async move { (9, store.mutate(&twin).await.unwrap()) });
    }
    for name in ["text", "nobody"] {
        let refused = tokio::spawn({
            let store = store.clone();
            async move { store.mutate(&fresh(add(name, 1, None))).await.unwrap() }
        });
        if name == "nobody" {
            assert_eq!(refused.await.unwrap(), Outcome::Refused(Refusal::Missing { key: key(name) }));
        } else {
            tasks.spawn(async move { (8, refused.await.unwrap()) });
        }
    }
    lock.commit().await.unwrap();
    let mut replayed = 0;
    for (place, outcome) in tasks.join_all().await {
        match (place, outcome) {
            (0 | 3, Outcome::Applied(_)) | (1, Outcome::Refused(Refusal::Overflow { .. })) => {}
            (2 | 4, Outcome::Refused(Refusal::Short { .. })) => {}
            (8, Outcome::Refused(Refusal::NotANumber { .. })) => {}
            (9, Outcome::Applied(applied)) => replayed += u32::from(applied.replayed),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(replayed, 1);
    assert_eq!(number(&store, "hot").await, 10 + 1 + 5 + 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn additions_under_a_lease_are_refused_together_once_it_is_lost() {
    let store = open("leased").await;
    apply(&store, put("hot", 0)).await;
    let request = LeaseRequest { key: key("lease"), owner: OpId::fresh(), ttl: Duration::from_secs(3600) };
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&request).await.unwrap() else {
        panic!("it is free")
    };
    let all = async |fence: Fence| {
        let mut tasks = JoinSet::new();
        for _ in 0..16 {
            let store = store.clone();
            let mutation = fresh(add("hot", 1, None)).under(key("lease"), fence);
            tasks.spawn(async move { store.mutate(&mutation).await.unwrap() });
        }
        tasks.join_all().await
    };
    assert!(all(fence).await.iter().all(|outcome| matches!(outcome, Outcome::Applied(_))));
    assert!(store.release_lease(&key("lease"), fence).await.unwrap());
    let fenced = Outcome::Refused(Refusal::Fenced { current: None });
    assert!(all(fence).await.iter().all(|outcome| *outcome == fenced));
    assert_eq!(number(&store, "hot").await, 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_leaves_does_not_strand_those_who_travel_with_it() {
    let store = open("leaves").await;
    apply(&store, put("hot", 0)).await;
    let mut client = bystander().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM \"interlock_leaves\".records FOR UPDATE").await.unwrap();
    let mut tasks = JoinSet::new();
    let mut leaving = vec![];
    for caller in 0..30 {
        let store = store.clone();
        let task = async move { store.mutate(&fresh(add("hot", 1, None))).await.unwrap() };
        if caller % 3 == 0 {
            leaving.push(tokio::spawn(task));
        } else {
            tasks.spawn(task);
        }
    }
    becomes_true("the first is under way", || waiting("leaves") == 1).await;
    for task in &leaving {
        task.abort();
    }
    lock.commit().await.unwrap();
    assert_eq!(tasks.join_all().await.len(), 20);
    let counted = number(&store, "hot").await;
    assert!((20..=30).contains(&counted), "{counted}");
    assert_eq!(ask("leaves", "SELECT count(*) FROM interlock.ops") - 1, counted);
    assert_eq!(number(&store, "hot").await, counted, "nothing is under way any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_who_goes_on_behind_the_last_entry_misses_none() {
    let stores = [open("log").await, open("log").await];
    let mut tasks = JoinSet::new();
    for writer in 0..16_u8 {
        let store = stores[usize::from(writer) % 2].clone();
        tasks.spawn(async move {
            let mut places = vec![];
            for nth in 0..20_u8 {
                let appended = store.append(&OpId::fresh(), &key("log"), &[writer, nth]).await.unwrap();
                places.push(appended.place().unwrap());
            }
            assert!(places.is_sorted());
            places
        });
    }
    let (mut seen, mut after) = (vec![], 0);
    while seen.len() < 16 * 20 {
        let more = stores[0].read_log(&key("log"), after, 7).await.unwrap();
        after = more.last().map_or(after, |entry| entry.sequence);
        seen.extend(more);
    }
    let mut places: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    places.sort_unstable();
    assert_eq!(seen.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), places);
    let mut last = [None; 16];
    for entry in &seen {
        let [writer, nth] = entry.entry[..] else { panic!("{entry:?}") };
        assert!(last[usize::from(writer)] < Some(nth), "in the order of each writer");
        last[usize::from(writer)] = Some(nth);
    }
    assert!(stores[0].read_log(&key("other"), 0, 7).await.unwrap().is_empty());
}

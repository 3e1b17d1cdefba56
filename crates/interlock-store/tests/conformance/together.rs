//! Many callers at once.

use std::time::Duration;

use interlock_sync::store::{
    Attempt, Change, Content, Expect, Fingerprint, LeaseRequest, Mutation, OpId, Outcome, Quota, Refusal,
    Taken,
};

use crate::{Shared, bytes, eventually, key, put, send};

/// Waits for tasks and gives back what they return.
async fn all<T: Send + 'static>(tasks: impl IntoIterator<Item = tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut answers = Vec::new();
    for task in tasks.into_iter().collect::<Vec<_>>() {
        answers.push(task.await.expect("no task panics"));
    }
    answers
}

async fn number(store: &Shared, name: &str) -> i64 {
    match store.get(&key(name)).await.unwrap().map(|record| record.content) {
        Some(Content::Number(number)) => number,
        other => panic!("`{name}` holds {other:?}"),
    }
}

/// Each of them moves whatever it can, in all directions at once: a cycle of locks, if there were any.
pub(crate) async fn many_transfers_conserve_the_sum(store: Shared) {
    let accounts = ["a", "b", "c", "d"];
    for name in accounts {
        put(&store, name, Content::Number(25)).await;
    }
    let movers = (0..16_usize).map(|mover| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut moved = 0;
            for round in 0..25_usize {
                let from = accounts[(mover + round) % 4];
                let to = accounts[(mover + round * 3 + 1) % 4];
                let amount = i64::try_from(round % 9 + 1).unwrap();
                let change = Change::Transfer { from: key(from), to: key(to), amount, floor: 0 };
                match send(&store, change).await {
                    Outcome::Applied(_) => moved += 1,
                    Outcome::Refused(Refusal::Short { available, .. }) => assert!(available < amount),
                    Outcome::Refused(refusal) => panic!("{refusal:?}"),
                }
            }
            moved
        })
    });
    assert!(all(movers).await.into_iter().sum::<i32>() > 0);
    let mut sum = 0;
    for name in accounts {
        let balance = number(&store, name).await;
        assert!(balance >= 0, "`{name}` was overdrawn to {balance}");
        sum += balance;
    }
    assert_eq!(sum, 100);
}

pub(crate) async fn a_record_is_created_once(store: Shared) {
    let makers = (0..32).map(|maker: u8| {
        let store = store.clone();
        let change =
            Change::Put { key: key("a"), expect: Expect::Absent, content: Content::Bytes(vec![maker]) };
        tokio::spawn(async move { (maker, send(&store, change).await) })
    });
    let answers = all(makers).await;
    let winners: Vec<u8> = answers
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Applied(_)))
        .map(|(maker, _)| *maker)
        .collect();
    assert_eq!(winners.len(), 1);
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(record.content, Content::Bytes(winners));
    for (_, outcome) in answers {
        if let Outcome::Refused(refusal) = outcome {
            assert_eq!(refusal, Refusal::Conflict { key: key("a"), current: Some(record.clone()) });
        }
    }
}

pub(crate) async fn compare_and_swap_loses_no_update(store: Shared) {
    put(&store, "list", Content::Bytes(vec![])).await;
    let writers = (0..8_u8).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for round in 0..5_u8 {
                loop {
                    let record = store.get(&key("list")).await.unwrap().unwrap();
                    let Content::Bytes(mut list) = record.content else { panic!("it is a list") };
                    list.push(writer * 5 + round);
                    let (expect, content) = (Expect::Version(record.version), Content::Bytes(list));
                    if let Outcome::Applied(_) =
                        send(&store, Change::Put { key: key("list"), expect, content }).await
                    {
                        break;
                    }
                }
            }
        })
    });
    all(writers).await;
    let Some(Content::Bytes(mut list)) = store.get(&key("list")).await.unwrap().map(|record| record.content)
    else {
        panic!("it is a list")
    };
    list.sort_unstable();
    assert_eq!(list, (0..40).collect::<Vec<u8>>());
}

/// The same operation sent several times at once, as after a lost answer.
pub(crate) async fn duplicates_that_race_are_applied_once(store: Shared) {
    put(&store, "a", Content::Number(0)).await;
    put(&store, "b", Content::Number(1_000)).await;
    for round in 0..10 {
        let change = if round % 2 == 0 {
            Change::Add { key: key("a"), delta: 1, floor: None }
        } else {
            Change::Transfer { from: key("b"), to: key("a"), amount: 1, floor: 0 }
        };
        let mutation = Mutation::new(OpId::fresh(), change);
        let senders = (0..6).map(|_| {
            let (store, mutation) = (store.clone(), mutation.clone());
            tokio::spawn(async move { store.mutate(&mutation).await.unwrap() })
        });
        let mut first_time = 0;
        for outcome in all(senders).await {
            match outcome {
                Outcome::Applied(applied) => first_time += u32::from(!applied.replayed),
                Outcome::Refused(refusal) => panic!("{refusal:?}"),
            }
        }
        assert_eq!(first_time, 1);
    }
    assert_eq!((number(&store, "a").await, number(&store, "b").await), (10, 995));
}

pub(crate) async fn a_sweep_forgets_what_is_over_and_nothing_else(store: Shared) {
    let moment = Duration::from_millis(1);
    let hour = Duration::from_secs(3600);
    put(&store, "record", bytes("kept")).await;
    let quota = Quota::log(1, moment).unwrap();
    let slow = Quota::log(1, hour).unwrap();
    for caller in 0..20 {
        store.take(&key(&format!("caller-{caller}")), &quota, 1).await.unwrap();
    }
    store.take(&key("slow"), &slow, 1).await.unwrap();
    let attempt = |name: &str, time| Attempt {
        key: key(name),
        fingerprint: Fingerprint([0; 32]),
        owner: OpId::fresh(),
        ttl: time,
        keep: time,
    };
    store.begin(&attempt("over", moment)).await.unwrap();
    store.begin(&attempt("kept", hour)).await.unwrap();
    store.acquire_lease(&LeaseRequest { key: key("lease"), owner: OpId::fresh(), ttl: hour }).await.unwrap();
    let start = store.now().await.unwrap();
    let shared = &store;
    eventually(|| async move { (shared.now().await.unwrap().since(start) > moment * 50).then_some(()) })
        .await;
    store.sweep().await.unwrap();
    store.sweep().await.unwrap();
    assert!(store.get(&key("record")).await.unwrap().is_some());
    assert!(matches!(store.take(&key("slow"), &slow, 1).await.unwrap(), Taken::Refused { .. }));
    assert!(matches!(
        store.begin(&attempt("kept", hour)).await.unwrap(),
        interlock_sync::store::Begun::Running { .. }
    ));
    assert!(matches!(
        store.begin(&attempt("over", hour)).await.unwrap(),
        interlock_sync::store::Begun::Reserved { .. }
    ));
}

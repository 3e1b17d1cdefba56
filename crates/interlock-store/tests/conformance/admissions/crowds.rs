//! Many callers at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
    time::Duration,
};

use interlock_sync::store::{Admission, Admitted, Fence, Places, Quota, WaitsOn};
use tokio::time::sleep;

use super::{LONG, admit, call, charge, locks, once, place, settle};
use crate::{Shared, key};

/// Asks until it is granted.
async fn get_through(store: &Shared, admission: &mut Admission) -> Fence {
    for _ in 0..20_000 {
        match admit(store, admission).await {
            Admitted::Granted { fence } => return fence,
            Admitted::Waits { ahead, .. } => {
                admission.is_again = true;
                sleep(Duration::from_millis(1 + u64::from(ahead.min(4)))).await;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("it waits for ever: {admission:?}")
}

async fn all<T: Send + 'static>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut answers = vec![];
    for task in tasks {
        answers.push(task.await.expect("no task panics"));
    }
    answers
}

/// Every set of three of five keys, exclusive and shared, in every order of arrival: a circle, if one could be.
pub(crate) async fn locks_exclude_each_other_and_nobody_waits_for_ever(store: Shared) {
    const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];
    // Of each key: minus one while somebody has it alone, else how many share it.
    let inside: Arc<[AtomicI32; 5]> = Arc::default();
    let callers = (0..8_usize).map(|caller| {
        let (store, inside) = (store.clone(), Arc::clone(&inside));
        tokio::spawn(async move {
            let mut last = Fence(0);
            for round in 0..10_usize {
                let wanted = (0..5).filter(|at| (caller * 7 + round * 3 + at * at) % 5 < 3);
                let wanted: Vec<(usize, bool)> =
                    wanted.map(|at| (at, (caller + round + at) % 3 == 0)).collect();
                let names: Vec<String> = wanted
                    .iter()
                    .map(|(at, is_shared)| format!("{}{}", KEYS[*at], if *is_shared { "+" } else { "" }))
                    .collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let mut admission = locks(&names);
                let fence = get_through(&store, &mut admission).await;
                for (at, is_shared) in &wanted {
                    if *is_shared {
                        assert!(
                            inside[*at].fetch_add(1, Ordering::SeqCst) >= 0,
                            "shared with an exclusive one"
                        );
                    } else {
                        assert_eq!(inside[*at].swap(-1, Ordering::SeqCst), 0, "not alone");
                    }
                }
                tokio::task::yield_now().await;
                for (at, is_shared) in &wanted {
                    if *is_shared {
                        inside[*at].fetch_sub(1, Ordering::SeqCst);
                    } else {
                        assert_eq!(inside[*at].swap(0, Ordering::SeqCst), -1);
                    }
                }
                assert!(settle(&store, &admission, fence).await);
                assert!(fence > last, "fences rise");
                last = fence;
            }
        })
    });
    all(callers.collect()).await;
}

pub(crate) async fn places_are_never_exceeded(store: Shared) {
    let inside = Arc::new(AtomicI32::new(0));
    let callers = (0..10).map(|_| {
        let (store, inside) = (store.clone(), Arc::clone(&inside));
        tokio::spawn(async move {
            let mut most = 0;
            for _ in 0..6 {
                let mut admission = Admission {
                    places: vec![
                        Places { key: key("few"), limit: 3 },
                        Places { key: key("many"), limit: 100 },
                    ],
                    ..call()
                };
                let fence = get_through(&store, &mut admission).await;
                most = most.max(inside.fetch_add(1, Ordering::SeqCst) + 1);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                assert!(settle(&store, &admission, fence).await);
            }
            most
        })
    });
    assert!(all(callers.collect()).await.into_iter().all(|most| most <= 3));
    // All were given back.
    for _ in 0..3 {
        assert!(matches!(admit(&store, &place("few", 3)).await, Admitted::Granted { .. }));
    }
    assert!(matches!(admit(&store, &place("few", 3)).await, Admitted::Waits { on: WaitsOn::Place(_), .. }));
}

pub(crate) async fn rates_are_never_exceeded(store: Shared) {
    let quotas = [Quota::bucket(7, LONG).unwrap(), Quota::log(7, LONG).unwrap()];
    for (nth, quota) in quotas.into_iter().enumerate() {
        let callers = (0..30).map(|_| {
            let store = store.clone();
            let charges =
                vec![charge(&format!("r{nth}"), quota), charge("all", Quota::log(100, LONG).unwrap())];
            tokio::spawn(async move { admit(&store, &Admission { charges, ..call() }).await })
        });
        let answers = all(callers.collect()).await;
        let granted = answers.iter().filter(|answer| matches!(answer, Admitted::Granted { .. })).count();
        assert_eq!(granted, 7, "{answers:?}");
        let refused = |answer: &&Admitted| matches!(answer, Admitted::TooOften { .. });
        assert_eq!(answers.iter().filter(refused).count(), 23);
    }
    // The refused ones took nothing from the other limit either.
    let rest = Admission { charges: vec![charge("all", Quota::log(15, LONG).unwrap())], ..call() };
    assert!(matches!(admit(&store, &rest).await, Admitted::Granted { .. }));
    let one_more = Admission { call: interlock_sync::store::OpId::fresh(), ..rest };
    assert!(matches!(admit(&store, &one_more).await, Admitted::TooOften { .. }));
}

pub(crate) async fn of_many_with_one_key_one_runs(store: Shared) {
    let callers = (0..30).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { admit(&store, &once("o", 1)).await })
    });
    let mut granted = 0;
    for answer in all(callers.collect()).await {
        match answer {
            Admitted::Granted { .. } => granted += 1,
            Admitted::Waits { on: WaitsOn::Same(_), .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(granted, 1);
}

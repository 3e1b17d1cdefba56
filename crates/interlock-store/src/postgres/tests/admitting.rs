//! Calls with everything at once: never in each other's way for ever, and nothing is left of them.

use interlock_sync::store::{
    Admission, Admitted, Charge, Ending, Fingerprint, OnceKey, Places, Quota, Settlement, Wish,
};
use tokio::task::JoinSet;

use super::*;

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(1);

/// A call that names keys of every kind, and each kind in another order.
fn call(nth: usize) -> Admission {
    let names = |of: &str, by: usize| {
        let mut names: Vec<Key> = (0..4).map(|at| key(&format!("{of}{}", (nth * by + at) % 5))).collect();
        if nth.is_multiple_of(2) {
            names.reverse();
        }
        names
    };
    let quota = Quota::bucket(1_000_000, Duration::from_secs(1)).unwrap();
    let once = OnceKey { key: key(&format!("o{}", nth % 7)), fingerprint: Fingerprint([1; 32]), keep: SHORT };
    Admission {
        call: OpId::fresh(),
        charges: names("k", 1).into_iter().map(|key| Charge { key, quota }).collect(),
        places: names("k", 2).into_iter().map(|key| Places { key, limit: 3 }).collect(),
        locks: names("k", 3).into_iter().map(|key| Wish { key, is_shared: !nth.is_multiple_of(3) }).collect(),
        once: nth.is_multiple_of(4).then_some(once),
        reader: Some(key(&format!("r{}", nth % 2))),
        observes: names("k", 4),
        requires_fresh: vec![],
        ttl: SHORT * 200,
        remember: SHORT,
        is_again: false,
        patience: SHORT * 20,
    }
}

fn end(call: &Admission, nth: usize, fence: interlock_sync::store::Fence) -> Settlement {
    let ending = Ending::Completed(vec![]);
    Settlement {
        call: call.call,
        fence: Some(fence),
        places: call.places.iter().map(|places| places.key.clone()).collect(),
        locks: call.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: call.once.as_ref().map(|once| (once.key.clone(), Some(ending), SHORT)),
        reader: call.reader.clone(),
        changes: if nth.is_multiple_of(3) { call.observes.clone() } else { vec![] },
        is_success: true,
        remember: SHORT,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_with_many_keys_never_deadlock_and_leave_nothing_behind() {
    let store = open("admitting").await;
    let deadlocks = "SELECT sum(deadlocks)::bigint FROM pg_stat_database";
    let mut callers = JoinSet::new();
    for caller in 0..12_usize {
        let store = Arc::clone(&store);
        callers.spawn(async move {
            let mut granted = 0;
            for round in 0..12_usize {
                let call = call(caller * 12 + round);
                match store.admit(&call).await.unwrap() {
                    Admitted::Granted { fence } => {
                        granted += 1;
                        let end = end(&call, caller + round, fence);
                        store.prolong(&end, LONG).await.unwrap();
                        store.settle(&end).await.unwrap();
                    }
                    Admitted::Waits { .. } | Admitted::Ended(_) | Admitted::InDoubt => {}
                    other => panic!("{other:?}"),
                }
            }
            granted
        });
    }
    // How many is a matter of the machine; whoever comes to free keys gets them.
    assert!(callers.join_all().await.into_iter().sum::<u32>() > 0);
    let left = "SELECT (SELECT count(*) FROM interlock.calls) + (SELECT count(*) FROM interlock.holders)
        + (SELECT count(*) FROM interlock.waiters) + (SELECT count(*) FROM interlock.changes)
        + (SELECT count(*) FROM interlock.views) + (SELECT count(*) FROM interlock.attempts)";
    while ask("admitting", left) > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        store.sweep().await.unwrap();
    }
    assert!(ask("admitting", "SELECT count(*) FROM interlock.fences") <= 5, "a fence of each lock is kept");
    // A session tells what it counted when it ends.
    drop(store);
    becomes_true("all connections are closed", || {
        ask("admitting", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'admitting'") == 0
    })
    .await;
    assert_eq!(ask("admitting", deadlocks), 0);
}

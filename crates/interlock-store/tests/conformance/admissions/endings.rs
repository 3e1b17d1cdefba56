//! What is left of a call, however it ends.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Attempt, Begun, Ending, Fence, Fingerprint, OpId, Places, Quota, Settlement, Stored,
    WaitsOn,
};

use super::{LONG, SHORT, admit, call, charge, end, granted, locks, names, on_locks, once, settle, waits};
use crate::{Shared, eventually, key};

fn paid() -> Ending {
    Ending::Completed(vec![0, 255, b'\n', b'}'])
}

fn ends(admission: &Admission, fence: Fence, ending: Ending) -> Settlement {
    let key = admission.once.as_ref().unwrap().key.clone();
    Settlement { once: Some((key, Some(ending), LONG)), ..end(admission, Some(fence)) }
}

pub(crate) async fn a_grant_can_be_asked_for_again_and_is_given_back_once(store: Shared) {
    let admission = Admission {
        places: vec![Places { key: key("p"), limit: 1 }],
        charges: vec![charge("r", Quota::bucket(1, LONG).unwrap())],
        ..once("o", 1)
    };
    let fence = granted(&store, &admission).await;
    for _ in 0..2 {
        assert_eq!(granted(&store, &admission).await, fence);
    }
    assert!(store.prolong(&end(&admission, Some(fence)), LONG).await.unwrap());
    assert!(!store.prolong(&end(&admission, Some(Fence(fence.0 + 1))), LONG).await.unwrap());
    assert!(!store.prolong(&end(&admission, None), LONG).await.unwrap());
    let more = Settlement { locks: names(&["k", "never"]), ..end(&admission, Some(fence)) };
    assert!(!store.prolong(&more, LONG).await.unwrap(), "that one it never had");
    let settlement = ends(&admission, fence, paid());
    assert!(store.settle(&settlement).await.unwrap());
    assert!(!store.settle(&settlement).await.unwrap());
    assert!(!store.prolong(&end(&admission, Some(fence)), LONG).await.unwrap());
    assert_eq!(
        admit(&store, &Admission { is_again: true, ..admission }).await,
        Admitted::Ended(Stored { ending: paid() })
    );
}

pub(crate) async fn a_dead_holder_is_replaced_with_a_greater_fence(store: Shared) {
    let want = || Admission { places: vec![Places { key: key("p"), limit: 1 }], ..locks(&["a", "b+"]) };
    let dead = Admission { ttl: SHORT, ..want() };
    let first = granted(&store, &dead).await;
    let (shared, next) = (&store, &want());
    let second = eventually(|| async move {
        match admit(shared, next).await {
            Admitted::Granted { fence } => Some(fence),
            Admitted::Waits { on, ahead: 0, retry_after } => {
                assert_eq!(on, on_locks(&["a"]));
                assert!(retry_after <= SHORT, "{retry_after:?}");
                None
            }
            other => panic!("{other:?}"),
        }
    })
    .await;
    assert!(second > first);
    assert!(!store.prolong(&end(&dead, Some(first)), LONG).await.unwrap());
    assert!(!settle(&store, &dead, first).await);
    assert_eq!(waits(&store, &want()).await, (on_locks(&["a"]), 0), "what the second has is untouched");
    assert!(settle(&store, next, second).await);
}

pub(crate) async fn an_effect_that_ended_is_told_again(store: Shared) {
    for (name, ending) in [("good", paid()), ("bad", Ending::Failed(vec![]))] {
        let first = once(name, 1);
        let fence = granted(&store, &first).await;
        let same = once(name, 1);
        assert_eq!(waits(&store, &same).await, (WaitsOn::Same(key(name)), 0));
        assert_eq!(admit(&store, &once(name, 2)).await, Admitted::Mismatch);
        // Who waits for the same call stands in no line.
        let other = Admission { patience: Duration::ZERO, ..locks(&["k"]) };
        assert_eq!(waits(&store, &other).await, (on_locks(&["k"]), 0));
        assert!(store.settle(&ends(&first, fence, ending.clone())).await.unwrap());
        assert_eq!(admit(&store, &same).await, Admitted::Ended(Stored { ending: ending.clone() }));
        assert_eq!(admit(&store, &once(name, 2)).await, Admitted::Mismatch);
        let free = locks(&["k"]);
        let fence = granted(&store, &free).await;
        assert_eq!(
            admit(&store, &once(name, 1)).await,
            Admitted::Ended(Stored { ending }),
            "without waiting"
        );
        assert!(settle(&store, &free, fence).await);
    }
    // Two that are the same wait for a lock; when one got it, the other leaves the line and waits for that one.
    let holder = locks(&["k"]);
    let fence = granted(&store, &holder).await;
    let (one, two) = (once("both", 1), once("both", 1));
    assert_eq!(waits(&store, &one).await, (on_locks(&["k"]), 0));
    assert_eq!(waits(&store, &two).await, (on_locks(&["k"]), 1));
    assert!(settle(&store, &holder, fence).await);
    granted(&store, &one).await;
    assert_eq!(waits(&store, &two).await, (WaitsOn::Same(key("both")), 0));
    assert_eq!(waits(&store, &locks(&["k"])).await, (on_locks(&["k"]), 0));
}

pub(crate) async fn an_effect_in_doubt_is_never_repeated(store: Shared) {
    // Long enough for a loaded machine to settle it in time.
    let lost = Admission { ttl: SHORT * 10, ..once("o", 1) };
    let fence = granted(&store, &lost).await;
    // Its end is not known: the lock is free, the key is not.
    assert!(store.settle(&end(&lost, Some(fence))).await.unwrap());
    let free = locks(&["k"]);
    let other = granted(&store, &free).await;
    assert!(settle(&store, &free, other).await);
    let (shared, again) = (&store, &once("o", 1));
    eventually(|| async move {
        match admit(shared, again).await {
            Admitted::InDoubt => Some(()),
            Admitted::Waits { on: WaitsOn::Same(_), .. } => None,
            other => panic!("{other:?}"),
        }
    })
    .await;
    assert_eq!(admit(&store, &once("o", 2)).await, Admitted::Mismatch);
    let late = ends(&lost, fence, paid());
    assert!(!store.settle(&late).await.unwrap(), "nothing was held any more");
    assert_eq!(admit(&store, again).await, Admitted::Ended(Stored { ending: paid() }), "but it is known now");
    // The other operations know the same keys.
    let attempt = Attempt {
        key: key("o"),
        fingerprint: Fingerprint([1; 32]),
        owner: OpId::fresh(),
        ttl: LONG,
        keep: LONG,
    };
    assert_eq!(store.begin(&attempt).await.unwrap(), Begun::Ended(Stored { ending: paid() }));
}

pub(crate) async fn a_call_that_never_ran_leaves_everything_to_the_next(store: Shared) {
    let lost = once("o", 1);
    let first = granted(&store, &lost).await;
    assert!(store.settle(&end(&lost, None)).await.unwrap());
    assert!(!store.settle(&end(&lost, None)).await.unwrap());
    let next = once("o", 2);
    let second = granted(&store, &next).await;
    assert!(second > first);
    assert!(!store.settle(&ends(&lost, first, paid())).await.unwrap());
    assert_eq!(waits(&store, &once("o", 2)).await, (WaitsOn::Same(key("o")), 0), "another has it");
}

pub(crate) async fn calls_that_ended_leave_nothing(store: Shared) {
    let short = Duration::from_millis(1);
    for nth in 0..10 {
        let admission = Admission {
            ttl: short,
            remember: short,
            patience: short,
            reader: Some(key("r")),
            observes: names(&["x"]),
            places: vec![Places { key: key("p"), limit: 5 }],
            ..locks(&[&format!("k{nth}"), "s+"])
        };
        admit(&store, &admission).await;
        let other = Admission { patience: short, ttl: short, ..locks(&[&format!("k{nth}"), "s"]) };
        admit(&store, &other).await;
        let change = Settlement { changes: names(&["x"]), ..end(&admission, Some(Fence(1))) };
        store.settle(&change).await.unwrap();
    }
    let kept = locks(&["kept"]);
    let fence = granted(&store, &kept).await;
    let start = store.now().await.unwrap();
    let shared = &store;
    eventually(|| async move { (shared.now().await.unwrap().since(start) > short * 50).then_some(()) }).await;
    store.sweep().await.unwrap();
    assert_eq!(store.sweep().await.unwrap(), 0, "once is enough");
    assert_eq!(waits(&store, &locks(&["kept"])).await, (on_locks(&["kept"]), 0));
    assert!(settle(&store, &kept, fence).await);
    let all = Admission { places: vec![Places { key: key("p"), limit: 1 }], ..locks(&["k0", "k9", "s"]) };
    granted(&store, &all).await;
    granted(&store, &call()).await;
}

//! Who may go, and who goes first.

use std::time::Duration;

use interlock_sync::store::{Admission, Admitted, Places, Quota};

use super::{
    LONG, SHORT, admit, call, charge, end, granted, locks, on_locks, on_place, place, settle, waits,
};
use crate::{Shared, eventually, key};

pub(crate) async fn shared_locks_are_shared_and_exclusive_ones_are_not(store: Shared) {
    let (first, second) = (locks(&["a+", "b"]), locks(&["a+"]));
    let (one, two) = (granted(&store, &first).await, granted(&store, &second).await);
    let unwilling = |admission| Admission { patience: Duration::ZERO, ..admission };
    for wanted in [locks(&["a", "c"]), locks(&["a"])] {
        assert_eq!(waits(&store, &unwilling(wanted)).await, (on_locks(&["a"]), 0));
    }
    assert_eq!(waits(&store, &unwilling(locks(&["a", "b+"]))).await, (on_locks(&["a", "b"]), 0));
    granted(&store, &locks(&["c"])).await;
    assert!(settle(&store, &second, two).await);
    assert_eq!(waits(&store, &unwilling(locks(&["a"]))).await, (on_locks(&["a"]), 0));
    assert!(settle(&store, &first, one).await);
    let writer = locks(&["a", "b"]);
    let three = granted(&store, &writer).await;
    assert!(three > one && three > two);
    assert_eq!(waits(&store, &unwilling(locks(&["a+"]))).await, (on_locks(&["a"]), 0));
    assert!(settle(&store, &writer, three).await);
    granted(&store, &locks(&["a+"])).await;
}

pub(crate) async fn nobody_overtakes(store: Shared) {
    let holder = locks(&["a"]);
    let fence = granted(&store, &holder).await;
    // The reader waits behind the writer, whom it cannot share with; the other reader stands behind both.
    let (writer, reader, other) = (locks(&["a", "b"]), locks(&["a+"]), locks(&["a+", "c"]));
    assert_eq!(waits(&store, &writer).await, (on_locks(&["a"]), 0));
    assert_eq!(waits(&store, &reader).await, (on_locks(&["a"]), 1));
    assert_eq!(waits(&store, &other).await, (on_locks(&["a"]), 2));
    // `b` is free, and the writer came first.
    let late = locks(&["b"]);
    assert_eq!(waits(&store, &late).await, (on_locks(&["b"]), 1));
    assert!(settle(&store, &holder, fence).await);
    assert_eq!(waits(&store, &reader).await, (on_locks(&["a"]), 1), "the writer came first");
    assert_eq!(waits(&store, &late).await, (on_locks(&["b"]), 1));
    let newcomer = Admission { patience: Duration::ZERO, ..locks(&["a+"]) };
    assert_eq!(waits(&store, &newcomer).await, (on_locks(&["a"]), 3));
    let fence = granted(&store, &writer).await;
    assert_eq!(waits(&store, &late).await, (on_locks(&["b"]), 0));
    assert!(settle(&store, &writer, fence).await);
    granted(&store, &other).await;
    granted(&store, &reader).await;
    granted(&store, &late).await;
}

pub(crate) async fn a_place_in_line_is_lost_by_silence(store: Shared) {
    let holder = locks(&["a"]);
    let fence = granted(&store, &holder).await;
    let silent = Admission { patience: SHORT, ..locks(&["a"]) };
    assert_eq!(waits(&store, &silent).await, (on_locks(&["a"]), 0));
    let patient = locks(&["a"]);
    waits(&store, &patient).await;
    assert!(settle(&store, &holder, fence).await);
    let (shared, next) = (&store, &patient);
    eventually(|| async move {
        match admit(shared, next).await {
            Admitted::Granted { .. } => Some(()),
            Admitted::Waits { on, retry_after, .. } => {
                assert_eq!(on, on_locks(&["a"]));
                assert!(retry_after <= SHORT, "only the silent one is before it: {retry_after:?}");
                None
            }
            other => panic!("{other:?}"),
        }
    })
    .await;
    // One that says it goes leaves its place at once.
    let leaver = locks(&["a"]);
    assert_eq!(waits(&store, &leaver).await, (on_locks(&["a"]), 0));
    let last = locks(&["a"]);
    assert_eq!(waits(&store, &last).await, (on_locks(&["a"]), 1));
    assert!(store.settle(&end(&leaver, None)).await.unwrap());
    assert!(!store.settle(&end(&leaver, None)).await.unwrap(), "it stands in no line any more");
    assert_eq!(waits(&store, &last).await, (on_locks(&["a"]), 0));
}

pub(crate) async fn places_are_left_to_those_who_came_before(store: Shared) {
    let (one, two) = (place("p", 2), place("p", 2));
    let fence = granted(&store, &one).await;
    // It waits for its lock, and a place is kept for it.
    let holder = locks(&["a"]);
    let lock = granted(&store, &holder).await;
    let first = Admission { places: vec![Places { key: key("p"), limit: 2 }], ..locks(&["a"]) };
    assert_eq!(waits(&store, &first).await, (on_locks(&["a"]), 0));
    assert_eq!(waits(&store, &two).await, (on_place("p"), 1));
    assert!(settle(&store, &one, fence).await);
    let fence = granted(&store, &two).await;
    let three = place("p", 2);
    assert_eq!(waits(&store, &three).await, (on_place("p"), 1));
    assert!(settle(&store, &holder, lock).await);
    granted(&store, &first).await;
    assert_eq!(waits(&store, &three).await, (on_place("p"), 0));
    assert!(settle(&store, &two, fence).await);
    granted(&store, &three).await;
    assert_eq!(waits(&store, &place("none", 0)).await, (on_place("none"), 0));
    granted(&store, &place("other", 1)).await;
}

pub(crate) async fn rates_are_charged_together_and_once(store: Shared) {
    let kinds = [Quota::bucket(2, LONG).unwrap(), Quota::log(2, LONG).unwrap()];
    for (nth, twice) in kinds.into_iter().enumerate() {
        let [often, rare, lock] = ["often", "rare", "lock"].map(|name| format!("{name}-{nth}"));
        let rare = charge(&rare, Quota::log(1, LONG).unwrap());
        let both = || Admission { charges: vec![charge(&often, twice), rare.clone()], ..call() };
        let first = both();
        granted(&store, &first).await;
        granted(&store, &first).await;
        let too_often = |answer| match answer {
            Admitted::TooOften { key, retry_after: Some(wait) } => {
                assert!(wait <= LONG && wait > LONG / 4, "{wait:?}");
                key
            }
            other => panic!("{other:?}"),
        };
        for _ in 0..3 {
            assert_eq!(too_often(admit(&store, &both()).await), rare.key);
        }
        // Of the other nothing was taken, so one is left; it is taken by a call that has to wait, once.
        let holder = locks(&[&lock]);
        let fence = granted(&store, &holder).await;
        let waiter = Admission { charges: vec![charge(&often, twice)], ..locks(&[&lock]) };
        for _ in 0..3 {
            assert_eq!(waits(&store, &waiter).await, (on_locks(&[&lock]), 0));
        }
        let refused = Admission { charges: vec![charge(&often, twice)], ..call() };
        assert_eq!(too_often(admit(&store, &refused).await), key(&often));
        assert!(settle(&store, &holder, fence).await);
        granted(&store, &Admission { is_again: true, ..waiter }).await;
        granted(&store, &Admission { is_again: true, ..refused }).await;
    }
}

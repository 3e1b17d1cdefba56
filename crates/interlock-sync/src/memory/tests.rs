//! Admissions, with a clock that the test holds: what is about moments. What every store must do is in the common suite.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use super::MemoryStore;
use crate::{
    clock::{ManualClock, Timestamp},
    store::{
        Admission, Admitted, Charge, Ending, Fence, Fingerprint, Key, OnceKey, OpId, Places, Quota,
        Settlement, Store, Stored, WaitsOn, Wish,
    },
};

const SECOND: Duration = Duration::from_secs(1);
const START: Timestamp = Timestamp(1_000_000_000);

struct Bench {
    store: MemoryStore,
    clock: Arc<ManualClock>,
}

fn bench() -> Bench {
    let clock = Arc::new(ManualClock::at(START));
    Bench { store: MemoryStore::new(Arc::clone(&clock) as _, SECOND * 60), clock }
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// A call with patience for a second that wants nothing.
fn call(id: u128) -> Admission {
    Admission { remember: SECOND * 60, patience: SECOND, ..Admission::new(OpId(id), SECOND * 10) }
}

fn lock(id: u128, name: &str) -> Admission {
    Admission { locks: vec![Wish { key: key(name), is_shared: false }], ..call(id) }
}

fn settlement(admission: &Admission, fence: Option<Fence>) -> Settlement {
    Settlement {
        call: admission.call,
        fence,
        places: admission.places.iter().map(|places| places.key.clone()).collect(),
        locks: admission.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: None,
        reader: admission.reader.clone(),
        changes: vec![],
        is_success: true,
        remember: admission.remember,
    }
}

impl Bench {
    async fn admit(&self, admission: &Admission) -> Admitted {
        self.store.admit(admission).await.unwrap()
    }

    async fn granted(&self, admission: &Admission) -> Fence {
        match self.admit(admission).await {
            Admitted::Granted { fence } => fence,
            other => panic!("{other:?} is no grant"),
        }
    }

    async fn settle(&self, settlement: &Settlement) -> bool {
        self.store.settle(settlement).await.unwrap()
    }
}

fn waits(name: &str, ahead: u32, retry_after: Duration) -> Admitted {
    Admitted::Waits { on: WaitsOn::Locks(vec![key(name)]), ahead, retry_after }
}

#[tokio::test]
async fn a_place_in_line_is_kept_by_asking_again_and_lost_by_silence() {
    let bench = bench();
    let fence = bench.granted(&lock(1, "k")).await;
    assert_eq!(bench.admit(&lock(2, "k")).await, waits("k", 0, SECOND * 10));
    assert_eq!(bench.admit(&lock(3, "k")).await, waits("k", 1, SECOND * 10));
    bench.clock.advance(SECOND / 2);
    assert_eq!(bench.admit(&lock(3, "k")).await, waits("k", 1, SECOND * 19 / 2));
    assert!(bench.settle(&settlement(&lock(1, "k"), Some(fence))).await);
    assert_eq!(bench.admit(&lock(3, "k")).await, waits("k", 1, SECOND / 2), "only the line is before it");
    assert_eq!(
        bench.admit(&Admission { patience: Duration::ZERO, ..lock(4, "k") }).await,
        waits("k", 2, SECOND / 2)
    );
    bench.clock.advance(SECOND / 2);
    bench.granted(&lock(3, "k")).await;
    assert_eq!(bench.admit(&lock(2, "k")).await, waits("k", 0, SECOND * 10), "it comes last now");
}

#[tokio::test]
async fn a_fence_rises_also_when_the_clock_goes_back() {
    let bench = bench();
    let first = bench.granted(&lock(1, "k")).await;
    assert_eq!(first, Fence(START.0));
    bench.clock.advance(SECOND * 11);
    let second = bench.granted(&lock(2, "k")).await;
    assert!(!bench.settle(&settlement(&lock(1, "k"), Some(first))).await, "its time had run out");
    assert!(bench.settle(&settlement(&lock(2, "k"), Some(second))).await);
    bench.store.sweep().await.unwrap();
    bench.clock.set(Timestamp(5));
    assert!(bench.granted(&lock(3, "k")).await > second);
}

#[tokio::test]
async fn a_grant_that_is_asked_for_again_is_the_same_and_counts_from_then() {
    let bench = bench();
    let admission = Admission { places: vec![Places { key: key("p"), limit: 1 }], ..lock(1, "k") };
    let fence = bench.granted(&admission).await;
    bench.clock.advance(SECOND * 5);
    assert_eq!(bench.granted(&admission).await, fence);
    bench.clock.advance(SECOND * 9);
    assert_eq!(bench.admit(&lock(2, "k")).await, waits("k", 0, SECOND));
    assert!(bench.store.prolong(&settlement(&admission, Some(fence)), SECOND * 3).await.unwrap());
    assert_eq!(bench.admit(&lock(2, "k")).await, waits("k", 0, SECOND * 3));
    assert!(!bench.store.prolong(&settlement(&admission, Some(Fence(fence.0 + 1))), SECOND).await.unwrap());
    bench.clock.advance(SECOND * 3);
    assert!(!bench.store.prolong(&settlement(&admission, Some(fence)), SECOND).await.unwrap());
    bench.granted(&lock(2, "k")).await;
}

#[tokio::test]
async fn a_rate_is_charged_with_all_others_or_with_none_and_on_the_first_asking_only() {
    let bench = bench();
    let charge = |name: &str, count, seconds| Charge {
        key: key(name),
        quota: Quota::bucket(count, SECOND * seconds).unwrap().with_burst(NonZeroU32::new(count).unwrap()),
    };
    let often = |id| Admission { charges: vec![charge("a", 2, 2), charge("b", 1, 10)], ..call(id) };
    bench.granted(&often(1)).await;
    let refused = Admitted::TooOften { key: key("b"), retry_after: Some(SECOND * 10) };
    assert_eq!(bench.admit(&often(2)).await, refused);
    assert_eq!(bench.admit(&often(2)).await, refused);
    bench.granted(&often(1)).await;
    let only_a = |id| Admission { charges: vec![charge("a", 2, 2)], ..call(id) };
    bench.granted(&only_a(3)).await;
    let refused = Admitted::TooOften { key: key("a"), retry_after: Some(SECOND) };
    assert_eq!(bench.admit(&only_a(4)).await, refused);
    bench.granted(&Admission { is_again: true, ..only_a(4) }).await;
}

#[tokio::test]
async fn what_a_dead_holder_had_started_is_in_doubt_until_somebody_says_how_it_ended() {
    let bench = bench();
    let once = OnceKey { key: key("o"), fingerprint: Fingerprint([1; 32]), keep: SECOND * 60 };
    let admission = |id| Admission { once: Some(once.clone()), ..lock(id, "k") };
    let fence = bench.granted(&admission(1)).await;
    let same = Admitted::Waits { on: WaitsOn::Same(key("o")), ahead: 0, retry_after: SECOND * 10 };
    assert_eq!(bench.admit(&admission(2)).await, same);
    bench.clock.advance(SECOND * 10);
    assert_eq!(bench.admit(&admission(2)).await, Admitted::InDoubt);
    bench.granted(&lock(3, "k")).await;
    let ending = Ending::Completed(b"paid".to_vec());
    let late = Settlement {
        once: Some((key("o"), Some(ending.clone()), SECOND * 60)),
        ..settlement(&admission(1), Some(fence))
    };
    assert!(!bench.settle(&late).await, "its locks are another's");
    assert_eq!(bench.admit(&admission(2)).await, Admitted::Ended(Stored { ending }));
    assert_eq!(bench.admit(&lock(4, "k")).await, waits("k", 0, SECOND * 10), "which still has them");
}

#[tokio::test]
async fn views_and_versions_are_forgotten_together() {
    let bench = bench();
    let reads = |id| Admission { reader: Some(key("r")), observes: vec![key("x")], ..call(id) };
    let writes = |id| Admission { reader: Some(key("r")), requires_fresh: vec![key("x")], ..call(id) };
    let change = |id, fence| Settlement { changes: vec![key("x")], ..settlement(&call(id), Some(fence)) };
    bench.granted(&reads(1)).await;
    bench.granted(&writes(2)).await;
    bench.clock.advance(SECOND);
    let other = bench.granted(&call(3)).await;
    assert!(bench.settle(&change(3, other)).await);
    let stale = |seen| Admitted::Stale { keys: vec![(key("x"), seen)] };
    assert_eq!(bench.admit(&writes(4)).await, stale(true));
    bench.clock.advance(SECOND * 59);
    assert_eq!(bench.admit(&writes(4)).await, stale(false), "the view went first");
    bench.clock.advance(SECOND);
    bench.granted(&reads(5)).await;
    bench.granted(&writes(6)).await;
    bench.clock.advance(SECOND * 61);
    bench.store.sweep().await.unwrap();
    assert_eq!(bench.store.sweep().await.unwrap(), 0);
    assert_eq!(bench.store.state.lock().unwrap().desk.expirable(), 0, "nothing is left");
}

#[tokio::test]
async fn a_call_that_never_ran_leaves_everything_to_the_next() {
    let bench = bench();
    let once = OnceKey { key: key("o"), fingerprint: Fingerprint([1; 32]), keep: SECOND * 60 };
    let admission = |id| Admission { once: Some(once.clone()), ..lock(id, "k") };
    let fence = bench.granted(&admission(1)).await;
    assert_eq!(bench.admit(&lock(2, "k")).await, waits("k", 0, SECOND * 10));
    assert!(bench.settle(&settlement(&lock(2, "k"), None)).await);
    assert!(!bench.settle(&settlement(&lock(2, "k"), None)).await);
    let never = Settlement { once: Some((key("o"), None, SECOND)), ..settlement(&admission(1), None) };
    assert!(bench.settle(&never).await);
    assert!(bench.granted(&admission(3)).await > fence);
}

#[tokio::test]
async fn ten_thousand_who_wait_are_served_in_order_and_leave_nothing_behind() {
    const MANY: u128 = 10_000;
    let bench = bench();
    let mut fence = bench.granted(&lock(0, "k")).await;
    for id in 1..=MANY {
        let answer = bench.admit(&lock(id, "k")).await;
        assert!(matches!(answer, Admitted::Waits { ahead, .. } if u128::from(ahead) == id - 1), "{answer:?}");
    }
    for id in 1..=MANY {
        assert!(bench.settle(&settlement(&lock(id - 1, "k"), Some(fence))).await);
        if id < MANY {
            assert!(matches!(bench.admit(&lock(MANY, "k")).await, Admitted::Waits { .. }));
        }
        fence = bench.granted(&lock(id, "k")).await;
    }
    assert!(bench.settle(&settlement(&lock(MANY, "k"), Some(fence))).await);
    assert_eq!(bench.store.state.lock().unwrap().desk.expirable(), 0);
}

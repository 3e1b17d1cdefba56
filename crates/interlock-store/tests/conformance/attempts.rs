//! Idempotency.

use std::time::Duration;

use interlock_sync::{
    idempotency::{Doubts, Resolution},
    store::{Admission, Admitted, Attempt, Begun, Doubt, Ending, Fence, Fingerprint, OnceKey, OpId, Stored},
};

use crate::{Shared, eventually, key};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);

fn attempt(owner: OpId, says: u8, ttl: Duration) -> Attempt {
    Attempt { key: key("order-1"), fingerprint: Fingerprint([says; 32]), owner, ttl, keep: LONG }
}

fn done() -> Ending {
    Ending::Completed(vec![0, 255, b'{', b'}'])
}

async fn reserved(store: &Shared, ttl: Duration) -> Fence {
    match store.begin(&attempt(OpId::fresh(), 1, ttl)).await.unwrap() {
        Begun::Reserved { fence } => fence,
        other => panic!("{other:?}"),
    }
}

async fn begin(store: &Shared, says: u8) -> Begun {
    store.begin(&attempt(OpId::fresh(), says, LONG)).await.unwrap()
}

pub(crate) async fn a_duplicate_is_told_to_wait_and_then_given_the_answer(store: Shared) {
    let fence = reserved(&store, LONG).await;
    assert!(
        matches!(begin(&store, 1).await, Begun::Running { retry_after } if retry_after <= LONG && retry_after > LONG / 2)
    );
    assert!(store.dispatch(&key("order-1"), fence, LONG).await.unwrap());
    assert!(matches!(begin(&store, 1).await, Begun::Running { .. }));
    assert!(!store.finish(&key("order-1"), Fence(fence.0 + 1), &done(), LONG).await.unwrap());
    assert!(!store.finish(&key("order-2"), fence, &done(), LONG).await.unwrap());
    assert!(store.finish(&key("order-1"), fence, &done(), LONG).await.unwrap());
    assert_eq!(begin(&store, 1).await, Begun::Ended(Stored { ending: done() }));
    let failed = Ending::Failed(b"declined".to_vec());
    assert!(!store.finish(&key("order-1"), fence, &failed, LONG).await.unwrap(), "it ended otherwise");
    assert!(!store.dispatch(&key("order-1"), fence, LONG).await.unwrap(), "it has ended");
}

pub(crate) async fn another_request_under_the_same_key_is_refused(store: Shared) {
    let fence = reserved(&store, LONG).await;
    assert_eq!(begin(&store, 2).await, Begun::Mismatch);
    assert!(store.dispatch(&key("order-1"), fence, LONG).await.unwrap());
    assert_eq!(begin(&store, 2).await, Begun::Mismatch);
    let failed = Ending::Failed(vec![]);
    assert!(store.finish(&key("order-1"), fence, &failed, LONG).await.unwrap());
    assert_eq!(begin(&store, 2).await, Begun::Mismatch);
    assert_eq!(begin(&store, 1).await, Begun::Ended(Stored { ending: failed }));
}

pub(crate) async fn a_reservation_that_ran_out_is_taken_over(store: Shared) {
    let first = reserved(&store, SHORT).await;
    let (next, shared) = (OpId::fresh(), &store);
    // Another request may take it over as well: nothing has happened under the first.
    let second = eventually(|| async move {
        match shared.begin(&attempt(next, 2, LONG)).await.unwrap() {
            Begun::Reserved { fence } => Some(fence),
            Begun::Mismatch => None,
            other => panic!("{other:?}"),
        }
    })
    .await;
    assert!(second > first);
    assert!(!store.dispatch(&key("order-1"), first, LONG).await.unwrap(), "the first may not start any more");
    assert!(!store.finish(&key("order-1"), first, &done(), LONG).await.unwrap());
    assert!(store.dispatch(&key("order-1"), second, LONG).await.unwrap());
}

pub(crate) async fn what_was_dispatched_and_ran_out_is_in_doubt_until_it_is_finished(store: Shared) {
    let fence = reserved(&store, LONG).await;
    assert!(store.dispatch(&key("order-1"), fence, SHORT).await.unwrap());
    let shared = &store;
    eventually(|| async move {
        match begin(shared, 1).await {
            Begun::InDoubt { fence: doubtful } => {
                assert_eq!(doubtful, fence);
                Some(())
            }
            Begun::Running { retry_after } => {
                assert!(retry_after <= SHORT);
                None
            }
            other => panic!("{other:?}"),
        }
    })
    .await;
    assert!(!store.dispatch(&key("order-1"), fence, LONG).await.unwrap(), "it is never started again");
    assert_eq!(begin(&store, 2).await, Begun::Mismatch);
    assert!(
        store.finish(&key("order-1"), fence, &done(), LONG).await.unwrap(),
        "late, and nobody else was at it"
    );
    assert_eq!(begin(&store, 1).await, Begun::Ended(Stored { ending: done() }));
}

pub(crate) async fn every_step_can_be_sent_again(store: Shared) {
    let same = attempt(OpId::fresh(), 1, LONG);
    let first = store.begin(&same).await.unwrap();
    assert_eq!(store.begin(&same).await.unwrap(), first);
    let Begun::Reserved { fence } = first else { panic!("{first:?}") };
    for _ in 0..2 {
        assert!(store.dispatch(&key("order-1"), fence, LONG).await.unwrap());
    }
    for _ in 0..2 {
        assert!(store.finish(&key("order-1"), fence, &done(), LONG).await.unwrap());
    }
    assert_eq!(store.begin(&same).await.unwrap(), Begun::Ended(Stored { ending: done() }));
}

pub(crate) async fn of_many_who_begin_at_once_one_may_go_on(store: Shared) {
    let callers = (0..40).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { begin(&store, 1).await })
    });
    let mut reserved = 0;
    for caller in callers.collect::<Vec<_>>() {
        match caller.await.unwrap() {
            Begun::Reserved { .. } => reserved += 1,
            Begun::Running { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(reserved, 1);
}

pub(crate) async fn what_is_in_doubt_is_listed_in_order_until_it_is_settled(store: Shared) {
    let doubts = Doubts::new(store.clone());
    let names = ["pay:a", "pay:b", "pay:ü", "pay:%*[?]", "post:a"];
    for name in names.iter().chain(&["pay:running", "pay:reserved"]) {
        let mut attempt = attempt(OpId::fresh(), 1, LONG);
        attempt.key = key(name);
        let Begun::Reserved { fence } = store.begin(&attempt).await.unwrap() else { panic!("{name} is new") };
        if *name != "pay:reserved" {
            let ttl = if *name == "pay:running" { LONG } else { Duration::ZERO };
            assert!(store.dispatch(&attempt.key, fence, ttl).await.unwrap());
        }
    }
    let shared = &doubts;
    let listed = eventually(|| async move {
        let listed = shared.list("pay:", None, 9).await.unwrap();
        (listed.len() == 4).then_some(listed)
    })
    .await;
    let texts = |doubts: &[Doubt]| doubts.iter().map(|doubt| doubt.key.to_string()).collect::<Vec<_>>();
    assert_eq!(texts(&listed), ["pay:%*[?]", "pay:a", "pay:b", "pay:ü"]);
    let now = store.now().await.unwrap();
    assert!(listed.iter().all(|doubt| doubt.since <= now && now.since(doubt.since) < LONG), "{listed:?}");
    assert_eq!(texts(&doubts.list("", None, 9).await.unwrap()).len(), 5);
    assert_eq!(texts(&doubts.list("pay:", Some(&key("pay:a")), 1).await.unwrap()), ["pay:b"]);
    assert_eq!(doubts.list("pay", None, 0).await.unwrap(), []);

    assert!(doubts.settle(&listed[1], &Resolution::Happened(b"paid".to_vec())).await.unwrap());
    assert!(doubts.settle(&listed[2], &Resolution::NeverHappened).await.unwrap());
    let wrong = Doubt { fence: Fence(listed[3].fence.0 + 1), ..listed[3].clone() };
    assert!(!doubts.settle(&wrong, &Resolution::NeverHappened).await.unwrap());
    assert_eq!(texts(&doubts.list("pay:", None, 9).await.unwrap()), ["pay:%*[?]", "pay:ü"]);
    let mut again = attempt(OpId::fresh(), 1, LONG);
    again.key = key("pay:a");
    let paid = Stored { ending: Ending::Completed(b"paid".to_vec()) };
    assert_eq!(store.begin(&again).await.unwrap(), Begun::Ended(paid));
    again.key = key("pay:b");
    let (shared, again) = (&store, &again);
    eventually(|| async move {
        matches!(shared.begin(again).await.unwrap(), Begun::Reserved { .. }).then_some(())
    })
    .await;
}

/// A call that a gateway let in and never settled.
pub(crate) async fn an_admitted_call_that_vanished_is_listed_too(store: Shared) {
    let mut admission = Admission::new(OpId::fresh(), SHORT);
    let (key, fingerprint) = (key("once:pay"), Fingerprint([1; 32]));
    admission.once = Some(OnceKey { key: key.clone(), fingerprint, keep: LONG });
    let Admitted::Granted { fence } = store.admit(&admission).await.unwrap() else { panic!("it is free") };
    let doubts = &Doubts::new(store.clone());
    let listed = eventually(|| async move { doubts.list("once:", None, 9).await.unwrap().pop() }).await;
    assert_eq!((&listed.key, listed.fence), (&key, fence));
    assert!(doubts.settle(&listed, &Resolution::HappenedUntold).await.unwrap());
    admission.call = OpId::fresh();
    let told = store.admit(&admission).await.unwrap();
    assert_eq!(told, Admitted::Ended(Stored { ending: Ending::Completed(b"-".to_vec()) }));
    assert_eq!(doubts.list("", None, 9).await.unwrap(), []);
}

//! Leases and fences.

use std::time::Duration;

use interlock_sync::store::{
    Change, Content, Expect, Fence, LeaseAnswer, LeaseRequest, Mutation, OpId, Outcome, Refusal,
};

use crate::{Shared, eventually, key, put};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);

fn request(owner: OpId, ttl: Duration) -> LeaseRequest {
    LeaseRequest { key: key("job"), owner, ttl }
}

async fn granted(store: &Shared, ttl: Duration) -> Fence {
    match store.acquire_lease(&request(OpId::fresh(), ttl)).await.unwrap() {
        LeaseAnswer::Granted { fence } => fence,
        held @ LeaseAnswer::Held { .. } => panic!("{held:?}"),
    }
}

pub(crate) async fn a_lease_has_one_holder_until_it_is_released(store: Shared) {
    let first = granted(&store, LONG).await;
    match store.acquire_lease(&request(OpId::fresh(), LONG)).await.unwrap() {
        LeaseAnswer::Held { fence, retry_after } => {
            assert_eq!(fence, first);
            assert!(retry_after <= LONG && retry_after > LONG / 2, "{retry_after:?}");
        }
        granted @ LeaseAnswer::Granted { .. } => panic!("{granted:?}"),
    }
    assert!(!store.release_lease(&key("job"), Fence(first.0 + 1)).await.unwrap());
    assert!(!store.release_lease(&key("other"), first).await.unwrap());
    assert!(store.release_lease(&key("job"), first).await.unwrap());
    assert!(!store.release_lease(&key("job"), first).await.unwrap(), "it is given back once");
    let second = granted(&store, LONG).await;
    assert!(second > first);
}

pub(crate) async fn a_lease_that_ran_out_goes_to_the_next_with_a_greater_fence(store: Shared) {
    let first = granted(&store, SHORT).await;
    let (waiting, store) = (OpId::fresh(), &store);
    let second = eventually(|| async move {
        match store.acquire_lease(&request(waiting, LONG)).await.unwrap() {
            LeaseAnswer::Granted { fence } => Some(fence),
            LeaseAnswer::Held { retry_after, .. } => {
                assert!(retry_after <= SHORT);
                None
            }
        }
    })
    .await;
    assert!(second > first);
    assert!(!store.renew_lease(&key("job"), first, LONG).await.unwrap());
    assert!(!store.release_lease(&key("job"), first).await.unwrap());
    assert!(store.renew_lease(&key("job"), second, LONG).await.unwrap());
}

pub(crate) async fn a_renewed_lease_outlives_its_first_time(store: Shared) {
    let fence = granted(&store, SHORT).await;
    let start = store.now().await.unwrap();
    assert!(store.renew_lease(&key("job"), fence, LONG).await.unwrap());
    let store = &store;
    eventually(|| async move { (store.now().await.unwrap().since(start) > SHORT * 2).then_some(()) }).await;
    let answer = store.acquire_lease(&request(OpId::fresh(), LONG)).await.unwrap();
    assert!(matches!(answer, LeaseAnswer::Held { fence: held, .. } if held == fence), "{answer:?}");
}

pub(crate) async fn asking_again_gives_the_same_grant(store: Shared) {
    let owner = OpId::fresh();
    let first = store.acquire_lease(&request(owner, SHORT)).await.unwrap();
    let again = store.acquire_lease(&request(owner, LONG)).await.unwrap();
    assert_eq!(first, again);
    match store.acquire_lease(&request(OpId::fresh(), LONG)).await.unwrap() {
        LeaseAnswer::Held { retry_after, .. } => assert!(retry_after > SHORT, "the second time counts"),
        granted @ LeaseAnswer::Granted { .. } => panic!("{granted:?}"),
    }
}

pub(crate) async fn a_write_under_a_lost_lease_is_refused(store: Shared) {
    put(&store, "a", Content::Number(0)).await;
    let write = |fence| {
        let change = Change::Put { key: key("a"), expect: Expect::Any, content: Content::Number(1) };
        Mutation::new(OpId::fresh(), change).under(key("job"), fence)
    };
    let refusal = |outcome| match outcome {
        Outcome::Refused(refusal) => refusal,
        Outcome::Applied(applied) => panic!("{applied:?}"),
    };
    assert_eq!(refusal(store.mutate(&write(Fence(1))).await.unwrap()), Refusal::Fenced { current: None });
    let first = granted(&store, LONG).await;
    let kept = write(first);
    assert!(matches!(store.mutate(&kept).await.unwrap(), Outcome::Applied(_)));
    assert!(store.release_lease(&key("job"), first).await.unwrap());
    assert_eq!(refusal(store.mutate(&write(first)).await.unwrap()), Refusal::Fenced { current: None });
    let second = granted(&store, LONG).await;
    assert_eq!(
        refusal(store.mutate(&write(first)).await.unwrap()),
        Refusal::Fenced { current: Some(second) }
    );
    assert!(matches!(store.mutate(&write(second)).await.unwrap(), Outcome::Applied(_)));
    match store.mutate(&kept).await.unwrap() {
        Outcome::Applied(applied) => assert!(applied.replayed, "what was applied stays applied"),
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

//! Permits.

use std::time::Duration;

use interlock_sync::store::{OpId, PermitAnswer, PermitRequest};

use crate::{Shared, eventually, key};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);

fn request(holder: OpId, limit: u32, ttl: Duration) -> PermitRequest {
    PermitRequest { key: key("caller"), holder, limit, ttl }
}

pub(crate) async fn no_more_than_the_limit_are_out(store: Shared) {
    let [one, two, three] = [OpId::fresh(), OpId::fresh(), OpId::fresh()];
    let ask = |holder| {
        let store = store.clone();
        async move { store.acquire_permit(&request(holder, 2, LONG)).await.unwrap() }
    };
    assert_eq!(ask(one).await, PermitAnswer::Granted { in_use: 1 });
    assert_eq!(ask(two).await, PermitAnswer::Granted { in_use: 2 });
    match ask(three).await {
        PermitAnswer::Full { in_use: 2, retry_after } => {
            assert!(retry_after <= LONG && retry_after > LONG / 2)
        }
        other => panic!("{other:?}"),
    }
    assert!(!store.release_permit(&key("caller"), &three).await.unwrap());
    assert!(store.release_permit(&key("caller"), &one).await.unwrap());
    assert!(!store.release_permit(&key("caller"), &one).await.unwrap(), "it is given back once");
    assert_eq!(ask(three).await, PermitAnswer::Granted { in_use: 2 });
    let other = PermitRequest { key: key("another"), ..request(one, 1, LONG) };
    assert_eq!(store.acquire_permit(&other).await.unwrap(), PermitAnswer::Granted { in_use: 1 });
    let none = PermitRequest { key: key("nobody"), ..request(one, 0, LONG) };
    assert!(matches!(store.acquire_permit(&none).await.unwrap(), PermitAnswer::Full { in_use: 0, .. }));
}

pub(crate) async fn a_permit_that_ran_out_comes_back(store: Shared) {
    let [lost, kept, next] = [OpId::fresh(), OpId::fresh(), OpId::fresh()];
    store.acquire_permit(&request(lost, 2, SHORT)).await.unwrap();
    store.acquire_permit(&request(kept, 2, SHORT)).await.unwrap();
    assert!(store.renew_permit(&key("caller"), &kept, LONG).await.unwrap());
    let store = &store;
    let in_use = eventually(|| async move {
        match store.acquire_permit(&request(next, 2, LONG)).await.unwrap() {
            PermitAnswer::Granted { in_use } => Some(in_use),
            PermitAnswer::Full { retry_after, .. } => {
                assert!(retry_after <= SHORT);
                None
            }
        }
    })
    .await;
    assert_eq!(in_use, 2, "the renewed one is still out");
    assert!(!store.renew_permit(&key("caller"), &lost, LONG).await.unwrap());
    assert!(!store.release_permit(&key("caller"), &lost).await.unwrap());
    assert!(store.release_permit(&key("caller"), &kept).await.unwrap());
}

pub(crate) async fn asking_again_takes_no_second_permit(store: Shared) {
    let holder = OpId::fresh();
    for _ in 0..3 {
        let answer = store.acquire_permit(&request(holder, 1, LONG)).await.unwrap();
        assert_eq!(answer, PermitAnswer::Granted { in_use: 1 });
    }
    assert!(store.release_permit(&key("caller"), &holder).await.unwrap());
    let answer = store.acquire_permit(&request(OpId::fresh(), 1, LONG)).await.unwrap();
    assert_eq!(answer, PermitAnswer::Granted { in_use: 1 });
}

pub(crate) async fn parallel_callers_do_not_overrun_the_limit(store: Shared) {
    let callers = (0..60).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.acquire_permit(&request(OpId::fresh(), 7, LONG)).await.unwrap() })
    });
    let mut granted = 0;
    for caller in callers.collect::<Vec<_>>() {
        granted += u32::from(matches!(caller.await.unwrap(), PermitAnswer::Granted { .. }));
    }
    assert_eq!(granted, 7);
}

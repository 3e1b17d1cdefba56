//! Quotas.

use std::{num::NonZeroU32, time::Duration};

use interlock_sync::store::{Quota, Taken};

use crate::{Shared, eventually, key};

const HOUR: Duration = Duration::from_secs(3600);

async fn take(store: &Shared, quota: &Quota, cost: u32) -> Taken {
    store.take(&key("caller"), quota, cost).await.unwrap()
}

pub(crate) async fn a_bucket_grants_its_burst_and_then_says_when(store: Shared) {
    let quota = Quota::bucket(60, HOUR).unwrap().with_burst(NonZeroU32::new(3).unwrap());
    for remaining in [2, 1, 0] {
        assert_eq!(take(&store, &quota, 1).await, Taken::Granted { remaining });
    }
    match take(&store, &quota, 1).await {
        Taken::Refused { retry_after: Some(wait) } => {
            assert!(wait <= HOUR / 60 && wait > HOUR / 120, "{wait:?}")
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(store.take(&key("another"), &quota, 1).await.unwrap(), Taken::Granted { remaining: 2 }));
    let fast = Quota::bucket(20, Duration::from_secs(1)).unwrap().with_burst(NonZeroU32::MIN);
    let (store, fast) = (&store, &fast);
    assert_eq!(store.take(&key("fast"), fast, 1).await.unwrap(), Taken::Granted { remaining: 0 });
    eventually(|| async move {
        matches!(store.take(&key("fast"), fast, 1).await.unwrap(), Taken::Granted { .. }).then_some(())
    })
    .await;
}

pub(crate) async fn a_log_grants_exactly_its_limit(store: Shared) {
    let window = Duration::from_millis(400);
    let quota = Quota::log(3, window).unwrap();
    for remaining in [2, 1, 0] {
        assert_eq!(take(&store, &quota, 1).await, Taken::Granted { remaining });
    }
    match take(&store, &quota, 1).await {
        Taken::Refused { retry_after: Some(wait) } => assert!(wait <= window, "{wait:?}"),
        // A machine that paused for the whole window.
        Taken::Granted { .. } => return,
        other => panic!("{other:?}"),
    }
    let (store, quota) = (&store, &quota);
    eventually(|| async move { matches!(take(store, quota, 1).await, Taken::Granted { .. }).then_some(()) })
        .await;
}

pub(crate) async fn a_cost_is_taken_whole_or_not_at_all(store: Shared) {
    for (name, quota) in [("bucket", Quota::bucket(5, HOUR).unwrap()), ("log", Quota::log(5, HOUR).unwrap())]
    {
        let take = |cost| {
            let (store, name) = (store.clone(), key(name));
            async move { store.take(&name, &quota, cost).await.unwrap() }
        };
        assert_eq!(take(6).await, Taken::Refused { retry_after: None }, "{name}");
        assert_eq!(take(3).await, Taken::Granted { remaining: 2 }, "{name}");
        assert!(matches!(take(3).await, Taken::Refused { retry_after: Some(_) }), "{name}");
        assert_eq!(take(2).await, Taken::Granted { remaining: 0 }, "{name}");
        assert!(matches!(take(1).await, Taken::Refused { retry_after: Some(_) }), "{name}");
    }
}

/// Read-then-count lets them all through.
pub(crate) async fn parallel_callers_do_not_overrun_a_quota(store: Shared) {
    for quota in [Quota::bucket(10, HOUR).unwrap(), Quota::log(10, HOUR).unwrap()] {
        let name = key(&format!("{quota:?}"));
        let callers = (0..60).map(|_| {
            let (store, name) = (store.clone(), name.clone());
            tokio::spawn(async move {
                matches!(store.take(&name, &quota, 1).await.unwrap(), Taken::Granted { .. })
            })
        });
        let mut granted = 0;
        for caller in callers.collect::<Vec<_>>() {
            granted += u32::from(caller.await.unwrap());
        }
        assert_eq!(granted, 10, "{quota:?}");
    }
}

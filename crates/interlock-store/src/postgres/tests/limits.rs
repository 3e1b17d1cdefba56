//! Limits and leases where time, crashes and others come between.

use interlock_sync::store::{
    Attempt, Begun, Fingerprint, LeaseAnswer, LeaseRequest, PermitAnswer, PermitRequest, Quota, Taken,
};
use tokio::task::JoinSet;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn no_more_than_the_quota_is_granted_to_many_at_once() {
    let stores = [open("quota").await, open("quota").await];
    for (name, quota) in
        [("bucket", Quota::bucket(10, HOUR).unwrap()), ("log", Quota::log(10, HOUR).unwrap())]
    {
        let mut tasks = JoinSet::new();
        for caller in 0..30 {
            let store = stores[caller % 2].clone();
            tasks.spawn(async move { store.take(&key(name), &quota, 1).await.unwrap() });
        }
        let granted = |taken: &&Taken| matches!(taken, Taken::Granted { .. });
        assert_eq!(tasks.join_all().await.iter().filter(granted).count(), 10, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_was_set_back_locks_nobody_out() {
    let store = open("back").await;
    for quota in [Quota::bucket(3, HOUR).unwrap(), Quota::log(3, HOUR).unwrap()] {
        assert_eq!(store.take(&key("k"), &quota, 3).await.unwrap(), Taken::Granted { remaining: 0 });
        // The grants were made ten hours from now.
        let shift = "UPDATE interlock.rates SET full_at = full_at + 36000000000, \
            grants = ARRAY(SELECT g + 36000000000 FROM unnest(grants) g) RETURNING 1";
        assert_eq!(ask("back", shift), 1);
        let taken = store.take(&key("k"), &quota, 1).await.unwrap();
        assert!(matches!(taken, Taken::Refused { retry_after: Some(wait) } if wait <= HOUR), "{taken:?}");
        // From the first look on, they grow old like others.
        let left = "SELECT (greatest(full_at, grants[3] + 3600000000) - interlock.clock()) / 1000000 FROM interlock.rates";
        assert!(ask("back", left) <= 3600, "{quota:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_longer_than_numbers_reach_is_still_kept() {
    let store = open("endless").await;
    let year = Duration::from_secs(366 * 24 * 3600);
    let quota = Quota::bucket(1, year).unwrap().with_burst(u32::MAX.try_into().unwrap());
    let taken = store.take(&key("k"), &quota, 1000).await.unwrap();
    assert!(matches!(taken, Taken::Granted { remaining: 1.. }), "{taken:?}");
    let one = Quota::bucket(1, year).unwrap();
    assert_eq!(store.take(&key("j"), &one, 2).await.unwrap(), Taken::Refused { retry_after: None });
    assert_eq!(store.take(&key("j"), &one, 1).await.unwrap(), Taken::Granted { remaining: 0 });
    let taken = store.take(&key("j"), &one, 1).await.unwrap();
    assert!(matches!(taken, Taken::Refused { retry_after: Some(wait) } if wait <= year), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_whose_renewal_is_under_way_is_not_given_away() {
    let store = open("renewal").await;
    let request = |holder| PermitRequest { key: key("caller"), holder: OpId(holder), limit: 1, ttl: HOUR };
    assert_eq!(store.acquire_permit(&request(1)).await.unwrap(), PermitAnswer::Granted { in_use: 1 });
    // The renewal was judged in time; then its permit ran out before it could be seen.
    let mut client = bystander().await;
    client.batch_execute("UPDATE \"interlock_renewal\".permits SET until = 1").await.unwrap();
    let renewal = client.transaction().await.unwrap();
    renewal
        .batch_execute(&format!("UPDATE \"interlock_renewal\".permits SET until = {}", i64::MAX / 4))
        .await
        .unwrap();
    let asking = tokio::spawn({
        let store = store.clone();
        async move { store.acquire_permit(&request(2)).await.unwrap() }
    });
    becomes_true("the other waits", || waiting("renewal") == 1).await;
    renewal.commit().await.unwrap();
    let answer = asking.await.unwrap();
    assert!(matches!(answer, PermitAnswer::Full { in_use: 1, .. }), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_ask_at_once_as_many_get_a_permit_a_lease_and_an_attempt_as_may() {
    let stores = [open("many").await, open("many").await];
    let mut tasks = JoinSet::new();
    for asker in 0..20_u128 {
        let store = stores[asker as usize % 2].clone();
        tasks.spawn(async move {
            let permit = PermitRequest { key: key("k"), holder: OpId(asker), limit: 3, ttl: HOUR };
            let permit = matches!(store.acquire_permit(&permit).await.unwrap(), PermitAnswer::Granted { .. });
            let lease = LeaseRequest { key: key("k"), owner: OpId(asker), ttl: HOUR };
            let lease = matches!(store.acquire_lease(&lease).await.unwrap(), LeaseAnswer::Granted { .. });
            let fingerprint = Fingerprint([7; 32]);
            let attempt = Attempt { key: key("k"), fingerprint, owner: OpId(asker), ttl: HOUR, keep: HOUR };
            let begun = store.begin(&attempt).await.unwrap();
            assert!(matches!(begun, Begun::Reserved { .. } | Begun::Running { .. }), "{begun:?}");
            [permit, lease, matches!(begun, Begun::Reserved { .. })].map(usize::from)
        });
    }
    let granted = tasks
        .join_all()
        .await
        .into_iter()
        .fold([0; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
    assert_eq!(granted, [3, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_removes_what_has_expired_and_nothing_else() {
    let store = open_with(&Options { remember_ops: Duration::ZERO, ..options("sweep") }).await;
    let many =
        "INSERT INTO interlock.ops SELECT int8send(n), 1, 1, 'a' FROM generate_series(1, 2100) n RETURNING 1";
    let statement = many.replace("interlock.", "\"interlock_sweep\".");
    server().query(&format!("WITH made AS ({statement}) SELECT count(*) FROM made")).unwrap();
    let moment = Duration::from_micros(1);
    let lease = LeaseRequest { key: key("k"), owner: OpId(1), ttl: moment };
    store.acquire_lease(&lease).await.unwrap();
    store
        .acquire_permit(&PermitRequest { key: key("k"), holder: OpId(1), limit: 1, ttl: moment })
        .await
        .unwrap();
    store
        .acquire_permit(&PermitRequest { key: key("k"), holder: OpId(2), limit: 9, ttl: HOUR })
        .await
        .unwrap();
    store.take(&key("k"), &Quota::log(1, moment).unwrap(), 1).await.unwrap();
    store.take(&key("live"), &Quota::log(1, HOUR).unwrap(), 1).await.unwrap();
    let attempt = Attempt {
        key: key("k"),
        fingerprint: Fingerprint([0; 32]),
        owner: OpId(1),
        ttl: moment,
        keep: moment,
    };
    store.begin(&attempt).await.unwrap();
    apply(&store, put("a", 1)).await;
    let left = "SELECT (SELECT count(*) FROM interlock.ops) * 10000 + (SELECT count(*) FROM interlock.attempts) * 1000 \
        + (SELECT count(*) FROM interlock.leases) * 100 + (SELECT count(*) FROM interlock.rates) * 10 \
        + (SELECT count(*) FROM interlock.permits)";
    let before = ask("sweep", left);
    let removed = store.sweep().await.unwrap();
    assert_eq!(ask("sweep", left), 111, "the lease's fence is kept for a day; {removed} of {before}");
    assert!(removed >= 2103, "{removed}");
    assert_eq!(store.sweep().await.unwrap(), 0);
    assert_eq!(number(&store, "a").await, 1);
    server().query("UPDATE \"interlock_sweep\".leases SET until = 1, fence = 1").unwrap();
    assert_eq!(store.sweep().await.unwrap(), 1);
}

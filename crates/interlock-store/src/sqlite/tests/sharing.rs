//! Several stores on one file, several namespaces in it, and the same file again.

use std::{sync::Arc, time::Duration};

use interlock_sync::store::{
    Attempt, Begun, Content, Ending, Fingerprint, LeaseAnswer, LeaseRequest, OpId, PermitAnswer,
    PermitRequest, Quota, Store, Stored, Taken,
};
use tokio::task::JoinSet;

use super::{Scene, applies, key, number, open, put, transfer};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_file_see_each_other_and_the_sum_is_conserved() {
    let scene = Scene::new();
    let stores = [scene.open(), scene.open()];
    for n in 0..8 {
        assert!(applies(&*stores[n % 2], &put(&format!("account-{n}"), 20)).await);
    }
    let mut tasks = JoinSet::new();
    for task in 0_usize..32 {
        let store = Arc::clone(&stores[task % 2]);
        tasks.spawn(async move {
            let mut applied = 0;
            for step in 1..=20 {
                let (from, to) = ((task * 7 + step) % 8, (task + step * 3) % 8);
                let amount = 1 + (task + step) as i64 % 9;
                let move_it = transfer(&format!("account-{from}"), &format!("account-{to}"), amount);
                applied += u32::from(applies(&*store, &move_it).await);
            }
            applied
        });
    }
    let applied: u32 = tasks.join_all().await.into_iter().sum();
    assert!(applied > 0);
    let mut sums = [0; 2];
    for n in 0..8 {
        for (sum, store) in sums.iter_mut().zip(&stores) {
            let balance = number(&**store, &format!("account-{n}")).await;
            assert!(balance >= 0);
            *sum += balance;
        }
    }
    assert_eq!(sums, [160, 160]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_transfers_of_the_whole_balance_one_succeeds() {
    let scene = Scene::new();
    let stores = [scene.open(), scene.open(), scene.open()];
    assert!(applies(&*stores[0], &put("alice", 100)).await && applies(&*stores[0], &put("bob", 0)).await);
    let mut tasks = JoinSet::new();
    for task in 0..99 {
        let store = Arc::clone(&stores[task % 3]);
        tasks.spawn(async move { applies(&*store, &transfer("alice", "bob", 100)).await });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|applied| *applied).count(), 1);
    assert_eq!((number(&*stores[1], "alice").await, number(&*stores[2], "bob").await), (0, 100));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_operation_sent_to_two_stores_at_once_is_applied_once() {
    let scene = Scene::new();
    let stores = [scene.open(), scene.open()];
    assert!(applies(&*stores[0], &put("alice", 100)).await && applies(&*stores[0], &put("bob", 0)).await);
    for _ in 0..20 {
        let same = transfer("alice", "bob", 1);
        let (one, other) = tokio::join!(applies(&*stores[0], &same), applies(&*stores[1], &same));
        assert!(one != other, "the other is a replay");
    }
    assert_eq!(number(&*stores[0], "bob").await, 20);
}

#[test]
fn a_new_file_can_be_opened_by_many_at_once() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&scene.file(), &scene.options))).collect();
        for opened in opening {
            opened.join().unwrap().unwrap();
        }
    });
    let spaces: i64 = scene.bare().query_row("SELECT count(*) FROM space", [], |row| row.get(0)).unwrap();
    assert_eq!(spaces, 1);
}

#[tokio::test]
async fn namespaces_of_one_file_never_meet() {
    let mut scene = Scene::new();
    let one = scene.open();
    scene.options.namespace = "other".into();
    let other = scene.open();
    let put = put("a", 1);
    assert!(applies(&*one, &put).await);
    assert_eq!(other.get(&key("a")).await.unwrap(), None);
    assert_eq!(other.list("", None, 9).await.unwrap(), []);
    assert_eq!(other.applied(&put.op).await.unwrap(), None);
    assert!(applies(&*other, &put).await, "the same id is another operation there");
    let lease = |owner| LeaseRequest { key: key("k"), owner: OpId(owner), ttl: MINUTE };
    let granted = |answer| matches!(answer, LeaseAnswer::Granted { .. });
    assert!(granted(one.acquire_lease(&lease(1)).await.unwrap()));
    assert!(granted(other.acquire_lease(&lease(2)).await.unwrap()));
    let quota = Quota::log(1, MINUTE).unwrap();
    for store in [&one, &other] {
        assert_eq!(store.take(&key("k"), &quota, 1).await.unwrap(), Taken::Granted { remaining: 0 });
        assert_eq!(store.append(&OpId::fresh(), &key("log"), b"x").await.unwrap().place(), Some(1));
        assert_eq!(store.read_log(&key("log"), 0, 9).await.unwrap().len(), 1);
    }
    scene.clock.advance(MINUTE * 60 * 48);
    assert_eq!(one.sweep().await.unwrap(), 4, "two op-ids, a lease and a quota, and none of the other's");
    assert_eq!(other.sweep().await.unwrap(), 4);
}

#[tokio::test]
async fn opening_the_file_again_finds_everything() {
    let scene = Scene::new();
    let store = scene.open();
    let put = put("a", 7);
    assert!(applies(&*store, &put).await);
    let lease = LeaseRequest { key: key("k"), owner: OpId(1), ttl: MINUTE };
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&lease).await.unwrap() else { panic!() };
    let (log, bucket) = (Quota::log(2, MINUTE).unwrap(), Quota::bucket(2, MINUTE).unwrap());
    store.take(&key("log"), &log, 2).await.unwrap();
    store.take(&key("bucket"), &bucket, 2).await.unwrap();
    let permit = |holder| PermitRequest { key: key("p"), holder: OpId(holder), limit: 1, ttl: MINUTE };
    store.acquire_permit(&permit(1)).await.unwrap();
    let attempt = Attempt {
        key: key("once"),
        fingerprint: Fingerprint([1; 32]),
        owner: OpId(1),
        ttl: MINUTE,
        keep: MINUTE,
    };
    let Begun::Reserved { fence: once } = store.begin(&attempt).await.unwrap() else { panic!() };
    let ending = Ending::Completed(b"done".to_vec());
    assert!(store.dispatch(&attempt.key, once, MINUTE).await.unwrap());
    assert!(store.finish(&attempt.key, once, &ending, MINUTE).await.unwrap());
    store.append(&OpId::fresh(), &key("audit"), b"entry").await.unwrap().place().unwrap();
    scene.close(store);

    let store = scene.open();
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(record.content, Content::Number(7));
    let applied = store.applied(&put.op).await.unwrap().unwrap();
    assert!(applied.replayed && applied.changed[0].to == Some(record.version));
    let other = LeaseRequest { owner: OpId(2), ..lease };
    let held = LeaseAnswer::Held { fence, retry_after: MINUTE };
    assert_eq!(store.acquire_lease(&other).await.unwrap(), held);
    assert!(matches!(store.take(&key("log"), &log, 1).await.unwrap(), Taken::Refused { .. }));
    assert!(matches!(store.take(&key("bucket"), &bucket, 1).await.unwrap(), Taken::Refused { .. }));
    let full = PermitAnswer::Full { in_use: 1, retry_after: MINUTE };
    assert_eq!(store.acquire_permit(&permit(2)).await.unwrap(), full);
    assert_eq!(store.begin(&attempt).await.unwrap(), Begun::Ended(Stored { ending }));
    assert_eq!(store.append(&OpId::fresh(), &key("audit"), b"next").await.unwrap().place(), Some(2));
}

//! Every operation is one command, and so one round trip.

use interlock_sync::store::{
    Admission, Admitted, Attempt, Begun, Charge, Ending, Fence, Fingerprint, LeaseAnswer, LeaseRequest,
    OnceKey, OpId, PermitRequest, Places, Quota, Settlement, Wish,
};

use super::{MINUTE, add, key, open, proxy::Proxy, put, server};

/// A call that wants something of everything.
fn call() -> Admission {
    let [a, b, p, x] = ["a", "b", "p", "x"].map(key);
    let quotas = [("r", Quota::bucket(9, MINUTE).unwrap()), ("s", Quota::log(9, MINUTE).unwrap())];
    Admission {
        call: OpId::fresh(),
        charges: quotas.map(|(name, quota)| Charge { key: key(name), quota }).into(),
        places: vec![Places { key: p, limit: 1 }],
        locks: vec![Wish { key: a, is_shared: false }, Wish { key: b, is_shared: true }],
        once: Some(OnceKey { key: key("o"), fingerprint: Fingerprint([1; 32]), keep: MINUTE }),
        reader: Some(key("ann")),
        observes: vec![x.clone(), key("y")],
        requires_fresh: vec![],
        ttl: MINUTE,
        remember: MINUTE,
        is_again: false,
        patience: MINUTE,
    }
}

/// One that is in nobody's way.
fn elsewhere() -> Admission {
    Admission {
        places: vec![],
        locks: vec![Wish { key: key("elsewhere"), is_shared: true }],
        reader: None,
        observes: vec![],
        ..call()
    }
}

fn end(admission: &Admission, fence: Option<Fence>) -> Settlement {
    Settlement {
        call: admission.call,
        fence,
        places: vec![key("p")],
        locks: vec![key("a"), key("b")],
        once: Some((key("o"), Some(Ending::Completed(b"paid".to_vec())), MINUTE)),
        reader: Some(key("ann")),
        changes: vec![key("x"), key("z")],
        is_success: true,
        remember: MINUTE,
    }
}

#[tokio::test]
async fn an_admission_is_one_round_trip_whatever_it_asks_for() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    // The first one of all learns the epoch, and is asked once more.
    store.admit(&Admission { charges: vec![], once: None, ..elsewhere() }).await.unwrap();
    let counted = std::cell::Cell::new(proxy.questions());
    let once = |what: &str| {
        let before = counted.replace(proxy.questions());
        assert_eq!(counted.get() - before, 1, "{what}");
    };
    let first = call();
    let Admitted::Granted { fence } = store.admit(&first).await.unwrap() else { panic!() };
    once("admit");
    store.admit(&first).await.unwrap();
    once("admit, granted before");
    let second = Admission { once: None, requires_fresh: vec![key("x")], ..call() };
    assert!(matches!(store.admit(&second).await.unwrap(), Admitted::Waits { .. }));
    once("admit, waiting");
    assert!(store.prolong(&end(&first, Some(fence)), MINUTE).await.unwrap());
    once("prolong");
    assert!(store.settle(&end(&first, Some(fence))).await.unwrap());
    once("settle");
    assert!(matches!(store.admit(&second).await.unwrap(), Admitted::Granted { .. }));
    once("admit, after waiting");
    let third = Admission { once: None, ..call() };
    assert!(matches!(store.admit(&third).await.unwrap(), Admitted::Waits { .. }));
    once("admit, waiting again");
    assert!(store.settle(&end(&third, None)).await.unwrap());
    once("settle, leaving the line");
}

#[tokio::test]
async fn every_operation_is_one_round_trip() {
    let redis = server();
    let proxy = Proxy::to(redis.address());
    let store = open(&proxy.url()).await;
    let (k, holder) = (key("k"), OpId::fresh());
    let counted = std::cell::Cell::new(proxy.questions());
    let once = |what: &str| {
        let before = counted.replace(proxy.questions());
        assert_eq!(counted.get() - before, 1, "{what}");
    };

    store.now().await.unwrap();
    once("now");
    let make = put("k", 5);
    store.mutate(&make).await.unwrap();
    once("mutate");
    store.mutate(&make).await.unwrap();
    once("mutate, replayed");
    store.mutate(&add("nobody", 1)).await.unwrap();
    once("mutate, refused");
    store.get(&k).await.unwrap();
    once("get");
    store.list("", None, 10).await.unwrap();
    once("list");
    store.applied(&make.op).await.unwrap();
    once("applied");

    let request = LeaseRequest { key: k.clone(), owner: OpId::fresh(), ttl: MINUTE };
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&request).await.unwrap() else { panic!() };
    once("acquire_lease");
    store.acquire_lease(&LeaseRequest { owner: OpId::fresh(), ..request }).await.unwrap();
    once("acquire_lease, held");
    store.mutate(&add("k", 1).under(k.clone(), fence)).await.unwrap();
    once("mutate under a lease");
    store.mutate(&add("k", 1).under(k.clone(), Fence(1))).await.unwrap();
    once("mutate, fenced");
    store.renew_lease(&k, fence, MINUTE).await.unwrap();
    once("renew_lease");
    store.release_lease(&k, fence).await.unwrap();
    once("release_lease");

    for quota in [Quota::bucket(1, MINUTE).unwrap(), Quota::log(1, MINUTE).unwrap()] {
        store.take(&k, &quota, 1).await.unwrap();
        once("take");
        store.take(&k, &quota, 1).await.unwrap();
        once("take, refused");
    }
    let request = PermitRequest { key: k.clone(), holder, limit: 1, ttl: MINUTE };
    store.acquire_permit(&request).await.unwrap();
    once("acquire_permit");
    store.acquire_permit(&PermitRequest { holder: OpId::fresh(), ..request }).await.unwrap();
    once("acquire_permit, full");
    store.renew_permit(&k, &holder, MINUTE).await.unwrap();
    once("renew_permit");
    store.release_permit(&k, &holder).await.unwrap();
    once("release_permit");

    let (fingerprint, owner) = (Fingerprint([1; 32]), OpId::fresh());
    let attempt = Attempt { key: k.clone(), fingerprint, owner, ttl: MINUTE, keep: MINUTE };
    let Begun::Reserved { fence } = store.begin(&attempt).await.unwrap() else { panic!() };
    once("begin");
    store.dispatch(&k, fence, MINUTE).await.unwrap();
    once("dispatch");
    store.finish(&k, fence, &Ending::Completed(b"paid".to_vec()), MINUTE).await.unwrap();
    once("finish");

    let note = OpId::fresh();
    let place = store.append(&note, &k, b"entry").await.unwrap().place().unwrap();
    once("append");
    assert_eq!(store.append(&note, &k, b"entry").await.unwrap().place(), Some(place));
    once("append, replayed");
    assert_eq!(store.read_log(&k, 0, 10).await.unwrap()[0].sequence, place);
    once("read_log");
    assert!(store.read_log(&k, 0, 0).await.unwrap().is_empty());
    assert!(store.read_log(&k, u64::MAX, usize::MAX).await.unwrap().is_empty());
    assert!(store.list("", None, 0).await.unwrap().is_empty());
    assert_eq!(store.list("", None, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(proxy.connections(), 1);
}

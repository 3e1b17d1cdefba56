//! What no reasonable caller asks for: it is answered or refused, costs nobody else anything, and no store falls over it.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Attempt, Begun, Change, Content, Ending, Expect, Fence, Fingerprint, Key,
    LeaseAnswer, LeaseRequest, Mutation, OnceKey, OpId, Outcome, PermitAnswer, PermitRequest, Places,
    Settlement, Stored, Wish,
};

use crate::{Shared, bytes, eventually, key, put};

/// From nothing to more than any clock can count.
const LENGTHS: [Duration; 4] =
    [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(u64::MAX), Duration::MAX];

/// Longer than a check runs.
fn is_long(length: Duration) -> bool {
    length > Duration::from_secs(600)
}

pub(crate) async fn any_length_of_a_lease_or_permit_is_understood(store: Shared) {
    for (nth, ttl) in LENGTHS.into_iter().enumerate() {
        let lease = || LeaseRequest { key: key(&format!("lease-{nth}")), owner: OpId::fresh(), ttl };
        let LeaseAnswer::Granted { fence } = store.acquire_lease(&lease()).await.unwrap() else {
            panic!("{ttl:?}: it is free")
        };
        if is_long(ttl) {
            assert!(
                matches!(store.acquire_lease(&lease()).await.unwrap(), LeaseAnswer::Held { .. }),
                "{ttl:?}"
            );
            assert!(store.renew_lease(&lease().key, fence, ttl).await.unwrap(), "{ttl:?}");
            assert!(store.release_lease(&lease().key, fence).await.unwrap(), "{ttl:?}");
        }
        eventually(async || {
            matches!(store.acquire_lease(&lease()).await.unwrap(), LeaseAnswer::Granted { .. }).then_some(())
        })
        .await;
        let permit =
            || PermitRequest { key: key(&format!("permit-{nth}")), holder: OpId::fresh(), limit: 1, ttl };
        let first = permit();
        assert!(
            matches!(store.acquire_permit(&first).await.unwrap(), PermitAnswer::Granted { .. }),
            "{ttl:?}"
        );
        if is_long(ttl) {
            assert!(
                matches!(store.acquire_permit(&permit()).await.unwrap(), PermitAnswer::Full { .. }),
                "{ttl:?}"
            );
            assert!(store.renew_permit(&first.key, &first.holder, ttl).await.unwrap(), "{ttl:?}");
            assert!(store.release_permit(&first.key, &first.holder).await.unwrap(), "{ttl:?}");
        }
        eventually(async || {
            matches!(store.acquire_permit(&permit()).await.unwrap(), PermitAnswer::Granted { .. })
                .then_some(())
        })
        .await;
    }
}

pub(crate) async fn any_length_of_an_attempt_is_understood(store: Shared) {
    for (nth, ttl) in LENGTHS.into_iter().enumerate() {
        let attempt = || Attempt {
            key: key(&format!("order-{nth}")),
            fingerprint: Fingerprint([7; 32]),
            owner: OpId::fresh(),
            ttl,
            keep: Duration::MAX,
        };
        let Begun::Reserved { fence } = store.begin(&attempt()).await.unwrap() else {
            panic!("{ttl:?}: nobody is at it")
        };
        let ending = Ending::Completed(b"done".to_vec());
        if store.dispatch(&attempt().key, fence, ttl).await.unwrap() {
            assert!(store.finish(&attempt().key, fence, &ending, Duration::MAX).await.unwrap(), "{ttl:?}");
            let again = store.begin(&attempt()).await.unwrap();
            assert!(
                matches!(&again, Begun::Ended(Stored { ending: told, .. }) if *told == ending),
                "{again:?}"
            );
        } else {
            assert!(!is_long(ttl), "{ttl:?}");
        }
    }
}

pub(crate) async fn any_length_of_an_admission_is_understood(store: Shared) {
    for (nth, length) in LENGTHS.into_iter().enumerate() {
        let lock = key(&format!("lock-{nth}"));
        let call = || Admission {
            places: vec![Places { key: key(&format!("place-{nth}")), limit: u32::MAX }],
            locks: vec![Wish { key: lock.clone(), is_shared: false }],
            reader: Some(key("reader")),
            observes: vec![key(&format!("seen-{nth}"))],
            patience: length,
            remember: length,
            ..Admission::new(OpId::fresh(), length)
        };
        let first = call();
        let Admitted::Granted { fence } = store.admit(&first).await.unwrap() else {
            panic!("{length:?}: it is free")
        };
        let end = Settlement {
            fence: Some(fence),
            places: first.places.iter().map(|places| places.key.clone()).collect(),
            locks: vec![lock.clone()],
            reader: first.reader.clone(),
            changes: first.observes.clone(),
            is_success: true,
            remember: length,
            ..Settlement::never_ran(first.call)
        };
        if is_long(length) {
            let second = call();
            assert!(matches!(store.admit(&second).await.unwrap(), Admitted::Waits { .. }), "{length:?}");
            assert!(store.prolong(&end, length).await.unwrap(), "{length:?}");
            let leaves = Settlement { locks: vec![lock.clone()], ..Settlement::never_ran(second.call) };
            let leaves = Settlement { places: end.places.clone(), ..leaves };
            store.settle(&leaves).await.unwrap();
        }
        store.settle(&end).await.unwrap();
        eventually(async || {
            let next = Admission { patience: Duration::ZERO, ..call() };
            matches!(store.admit(&next).await.unwrap(), Admitted::Granted { .. }).then_some(())
        })
        .await;
    }
}

pub(crate) async fn questions_that_no_key_answers_are_answered_with_nothing(store: Shared) {
    put(&store, "there", bytes("x")).await;
    store.append(&OpId::fresh(), &key("log"), b"x").await.unwrap().place().unwrap();
    for prefix in
        ["\0", "there\0", "\n", "\u{10ffff}", "'; DROP TABLE records; --", "th*", "th_re", "th%", "[t]here"]
    {
        assert_eq!(store.list(prefix, None, usize::MAX).await.unwrap(), [], "{prefix:?}");
        assert_eq!(store.in_doubt(prefix, None, usize::MAX).await.unwrap(), [], "{prefix:?}");
    }
    let far = "\u{10ffff}".repeat(100_000);
    assert_eq!(store.list(&far, None, 10).await.unwrap(), []);
    assert_eq!(store.list("", None, 0).await.unwrap(), []);
    assert_eq!(store.list("", None, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(store.list("a", Some(&key("there")), usize::MAX).await.unwrap(), []);
    assert_eq!(store.read_log(&key("log"), 0, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(store.read_log(&key("log"), 0, 0).await.unwrap(), []);
    assert_eq!(store.read_log(&key("log"), u64::MAX, usize::MAX).await.unwrap(), []);
    assert!(!store.release_lease(&key("there"), Fence(u64::MAX)).await.unwrap());
    assert!(!store.dispatch(&key("there"), Fence(u64::MAX), Duration::MAX).await.unwrap());
    assert!(!store.settle(&Settlement::never_ran(OpId(u128::MAX))).await.unwrap());
    assert_eq!(store.applied(&OpId(0)).await.unwrap(), None);
}

pub(crate) async fn eight_megabytes_come_back_whole_wherever_they_are_kept(store: Shared) {
    let large: Vec<u8> = (0..=255).cycle().take(8 << 20).collect();
    let record = put(&store, "large", Content::Bytes(large.clone())).await;
    assert!(store.get(&key("large")).await.unwrap() == Some(record), "a record is not what was put");
    store.append(&OpId::fresh(), &key("log"), &large).await.unwrap().place().unwrap();
    let read = store.read_log(&key("log"), 0, 1).await.unwrap();
    assert!(read.first().is_some_and(|entry| entry.entry == large), "an entry is not what was appended");
    let call = || Admission {
        once: Some(OnceKey {
            key: key("order"),
            fingerprint: Fingerprint([1; 32]),
            keep: Duration::from_secs(600),
        }),
        ..Admission::new(OpId::fresh(), Duration::from_secs(600))
    };
    let first = call();
    let Admitted::Granted { fence } = store.admit(&first).await.unwrap() else { panic!("nobody is at it") };
    let ending = Ending::Completed(large);
    let end = Settlement {
        fence: Some(fence),
        once: Some((key("order"), Some(ending.clone()), Duration::from_secs(600))),
        ..Settlement::never_ran(first.call)
    };
    assert!(store.settle(&end).await.unwrap());
    let Admitted::Ended(told) = store.admit(&call()).await.unwrap() else { panic!("it is told again") };
    assert!(told.ending == ending, "an ending is not what was stored");
}

/// Dropped before, while and after the store is asked, an operation can be asked for again under its own id, and has happened once.
pub(crate) async fn an_operation_whose_caller_went_away_is_done_once_by_asking_again(store: Shared) {
    const TIMES: u64 = 40;
    let counter = || Change::Add { key: key("counter"), delta: 1, floor: None };
    put(&store, "counter", Content::Number(0)).await;
    for nth in 0..TIMES {
        let moment = Duration::from_micros(nth * nth * 4);
        let addition = Mutation::new(OpId::fresh(), counter());
        drop(tokio::time::timeout(moment, store.mutate(&addition)).await);
        assert!(matches!(store.mutate(&addition).await.unwrap(), Outcome::Applied(_)));
        let (op, entry) = (OpId::fresh(), nth.to_be_bytes());
        drop(tokio::time::timeout(moment, store.append(&op, &key("log"), &entry)).await);
        store.append(&op, &key("log"), &entry).await.unwrap().place().unwrap();
        let once = Mutation::new(
            OpId::fresh(),
            Change::Put { key: key(&format!("made-{nth}")), expect: Expect::Absent, content: bytes("x") },
        );
        drop(tokio::time::timeout(moment, store.mutate(&once)).await);
        assert!(
            matches!(store.mutate(&once).await.unwrap(), Outcome::Applied(_)),
            "its own record is not in its way"
        );
        let locks: Vec<Key> = vec![key("lock")];
        let call = Admission {
            locks: vec![Wish { key: key("lock"), is_shared: false }],
            ..Admission::new(OpId::fresh(), Duration::from_secs(600))
        };
        drop(tokio::time::timeout(moment, store.admit(&call)).await);
        let Admitted::Granted { fence } = store.admit(&call).await.unwrap() else {
            panic!("it has the lock, or nobody")
        };
        let end = Settlement { fence: Some(fence), locks, ..Settlement::never_ran(call.call) };
        drop(tokio::time::timeout(moment, store.settle(&end)).await);
        // Whether this one or the one before was the first to arrive, the lock is free then.
        store.settle(&end).await.unwrap();
    }
    let counted = store.get(&key("counter")).await.unwrap().unwrap().content;
    assert_eq!(counted, Content::Number(i64::try_from(TIMES).unwrap()));
    let entries = store.read_log(&key("log"), 0, usize::MAX).await.unwrap();
    let entries: Vec<&[u8]> = entries.iter().map(|entry| &*entry.entry).collect();
    assert_eq!(
        entries,
        (0..TIMES).map(u64::to_be_bytes).collect::<Vec<_>>().iter().map(|e| &e[..]).collect::<Vec<_>>()
    );
}

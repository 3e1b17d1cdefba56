//! Append-only logs.

use interlock_sync::store::{
    Appended, Change, Content, Expect, Key, Mutation, OpId, Outcome, Refusal, Version,
};

use crate::{Shared, key};

/// Appends what was not appended before under another id.
async fn append(store: &Shared, op: OpId, log: &Key, entry: &[u8]) -> u64 {
    store.append(&op, log, entry).await.unwrap().place().expect("the id is its own")
}

pub(crate) async fn a_log_keeps_its_order_and_goes_on_where_it_was_left(store: Shared) {
    let log = key("audit");
    assert_eq!(store.read_log(&log, 0, 10).await.unwrap(), []);
    let mut places = Vec::new();
    for entry in 0..5_u8 {
        places.push(append(&store, OpId::fresh(), &log, &[entry, 0, 255]).await);
    }
    assert!(places.is_sorted_by(|earlier, later| earlier < later), "{places:?}");
    let all = store.read_log(&log, 0, 10).await.unwrap();
    assert_eq!(all.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), places);
    assert_eq!(all.iter().map(|entry| entry.entry[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(all.iter().all(|entry| entry.entry[1..] == [0, 255]));
    assert!(all.is_sorted_by_key(|entry| entry.at));
    assert_eq!(store.read_log(&log, places[1], 2).await.unwrap(), all[2..4]);
    assert_eq!(store.read_log(&log, places[4], 2).await.unwrap(), []);
}

pub(crate) async fn logs_do_not_meet(store: Shared) {
    let writers = ["one", "two"].map(|name| {
        let store = store.clone();
        tokio::spawn(async move {
            for entry in 0..20_u8 {
                append(&store, OpId::fresh(), &key(name), &[entry]).await;
            }
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }
    for name in ["one", "two"] {
        let entries = store.read_log(&key(name), 0, 100).await.unwrap();
        assert_eq!(
            entries.iter().map(|entry| entry.entry[0]).collect::<Vec<_>>(),
            (0..20).collect::<Vec<_>>()
        );
    }
}

pub(crate) async fn an_entry_sent_again_stands_once_and_keeps_its_place(store: Shared) {
    let (log, op) = (key("audit"), OpId::fresh());
    assert_eq!(store.applied(&op).await.unwrap(), None);
    let place = append(&store, op, &log, b"one").await;
    let between = append(&store, OpId::fresh(), &log, b"two").await;
    assert_eq!(append(&store, op, &log, b"one").await, place);
    let known = store.applied(&op).await.unwrap().unwrap();
    assert!(known.replayed);
    assert_eq!((&known.changed[0].key, known.changed[0].to), (&log, Some(Version(place))));

    let again = OpId::fresh();
    let senders = (0..8).map(|_| {
        let (store, log) = (store.clone(), log.clone());
        tokio::spawn(async move { append(&store, again, &log, b"three").await })
    });
    let mut places = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        places.push(sender.await.unwrap());
    }
    places.dedup();
    assert_eq!(places.len(), 1, "copies that race have one place: {places:?}");
    let entries = store.read_log(&log, 0, 100).await.unwrap();
    let found: Vec<_> = entries.iter().map(|entry| (entry.sequence, &*entry.entry)).collect();
    assert_eq!(found, [(place, &b"one"[..]), (between, b"two"), (places[0], b"three")]);
}

pub(crate) async fn an_id_of_another_operation_appends_nothing(store: Shared) {
    let (log, op) = (key("audit"), OpId::fresh());
    let change = Change::Put { key: key("a"), expect: Expect::Absent, content: Content::Number(1) };
    let mutation = Mutation::new(op, change);
    assert!(matches!(store.mutate(&mutation).await.unwrap(), Outcome::Applied(_)));
    assert_eq!(store.append(&op, &log, b"one").await.unwrap(), Appended::Mismatch);
    assert_eq!(store.read_log(&log, 0, 10).await.unwrap(), []);
}

pub(crate) async fn an_id_of_an_append_changes_nothing_else(store: Shared) {
    let (log, op) = (key("audit"), OpId::fresh());
    let place = append(&store, op, &log, b"one").await;
    for (log, entry) in [(&log, b"two"), (&key("other"), b"one")] {
        assert_eq!(store.append(&op, log, entry).await.unwrap(), Appended::Mismatch);
        assert_eq!(store.read_log(&key("other"), 0, 10).await.unwrap(), []);
    }
    let change = Change::Put { key: log.clone(), expect: Expect::Absent, content: Content::Number(1) };
    let answer = store.mutate(&Mutation::new(op, change)).await.unwrap();
    assert_eq!(answer, Outcome::Refused(Refusal::Mismatch { op }));
    assert_eq!(store.get(&log).await.unwrap(), None);
    let entries = store.read_log(&log, 0, 10).await.unwrap();
    assert_eq!(
        entries.iter().map(|entry| (entry.sequence, &*entry.entry)).collect::<Vec<_>>(),
        [(place, &b"one"[..])]
    );
}

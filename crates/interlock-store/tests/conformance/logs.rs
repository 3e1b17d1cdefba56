//! Append-only logs.

use crate::{Shared, key};

pub(crate) async fn a_log_keeps_its_order_and_goes_on_where_it_was_left(store: Shared) {
    let log = key("audit");
    assert_eq!(store.read_log(&log, 0, 10).await.unwrap(), []);
    let mut places = Vec::new();
    for entry in 0..5_u8 {
        places.push(store.append(&log, &[entry, 0, 255]).await.unwrap());
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
                store.append(&key(name), &[entry]).await.unwrap();
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

//! Who has seen what is there.

use interlock_sync::store::{Admission, Admitted, Fence, Settlement};

use super::{admit, call, end, granted, locks, names, on_locks, settle, waits};
use crate::{Shared, key};

fn reads(reader: &str, what: &[&str]) -> Admission {
    Admission { reader: Some(key(reader)), observes: names(what), ..call() }
}

fn writes(reader: &str, what: &[&str]) -> Admission {
    Admission { reader: Some(key(reader)), requires_fresh: names(what), ..call() }
}

fn changes(admission: &Admission, fence: Fence, what: &[&str]) -> Settlement {
    Settlement { changes: names(what), ..end(admission, Some(fence)) }
}

/// A call of this reader that needs to have seen nothing changes something.
async fn change(store: &Shared, reader: &str, what: &[&str], is_success: bool) {
    let admission = Admission { reader: Some(key(reader)), ..call() };
    let fence = granted(store, &admission).await;
    let settlement = Settlement { is_success, ..changes(&admission, fence, what) };
    assert!(store.settle(&settlement).await.unwrap());
}

/// What a reader has to read again, and whether it had read it before.
async fn stale(store: &Shared, reader: &str, what: &[&str]) -> Vec<(String, bool)> {
    match admit(store, &writes(reader, what)).await {
        Admitted::Granted { .. } => vec![],
        Admitted::Stale { keys } => keys.into_iter().map(|(key, seen)| (key.to_string(), seen)).collect(),
        other => panic!("{other:?}"),
    }
}

fn had(name: &str, seen: bool) -> Vec<(String, bool)> {
    vec![(name.to_owned(), seen)]
}

pub(crate) async fn a_change_is_noticed_by_those_who_read_before_it(store: Shared) {
    assert_eq!(stale(&store, "ann", &["x", "y"]).await, [had("x", false), had("y", false)].concat());
    granted(&store, &reads("ann", &["x", "y"])).await;
    assert_eq!(stale(&store, "ann", &["x", "y"]).await, []);
    assert_eq!(stale(&store, "bob", &["x"]).await, had("x", false), "what another read counts for nothing");
    change(&store, "bob", &["x"], true).await;
    assert_eq!(stale(&store, "ann", &["x", "y"]).await, had("x", true));
    assert_eq!(stale(&store, "ann", &["y"]).await, []);
    granted(&store, &reads("ann", &["x"])).await;
    assert_eq!(stale(&store, "ann", &["x", "y"]).await, []);
    // A change may have happened also when the call failed.
    change(&store, "bob", &["x", "y"], false).await;
    assert_eq!(stale(&store, "ann", &["x", "y"]).await, [had("x", true), had("y", true)].concat());
    let nobody = Admission { requires_fresh: names(&["x"]), ..call() };
    assert_eq!(admit(&store, &nobody).await, Admitted::Stale { keys: vec![(key("x"), false)] });
}

pub(crate) async fn only_who_was_fresh_knows_its_own_change(store: Shared) {
    granted(&store, &reads("ann", &["x"])).await;
    change(&store, "ann", &["x"], true).await;
    assert_eq!(stale(&store, "ann", &["x"]).await, []);
    change(&store, "ann", &["x"], false).await;
    assert_eq!(stale(&store, "ann", &["x"]).await, had("x", true), "it cannot know what a failure left");
    granted(&store, &reads("ann", &["x"])).await;
    change(&store, "bob", &["x"], true).await;
    assert_eq!(stale(&store, "bob", &["x"]).await, had("x", false), "it wrote what it had not read");
    change(&store, "ann", &["x"], true).await;
    assert_eq!(stale(&store, "ann", &["x"]).await, had("x", true), "it wrote over what it had not read");
}

pub(crate) async fn freshness_is_judged_when_the_locks_are_free(store: Shared) {
    granted(&store, &reads("ann", &["x"])).await;
    let bob = Admission { reader: Some(key("bob")), ..locks(&["x"]) };
    let fence = granted(&store, &bob).await;
    let write = Admission { locks: locks(&["x"]).locks, ..writes("ann", &["x"]) };
    assert_eq!(waits(&store, &write).await, (on_locks(&["x"]), 0));
    assert!(store.settle(&changes(&bob, fence, &["x"])).await.unwrap());
    assert_eq!(admit(&store, &write).await, Admitted::Stale { keys: vec![(key("x"), true)] });
    // It holds nothing and stands nowhere.
    let other = locks(&["x"]);
    let fence = granted(&store, &other).await;
    assert!(settle(&store, &other, fence).await);
    // A read that is under way has seen what was there when it was let through.
    let read = reads("ann", &["x"]);
    let reading = granted(&store, &read).await;
    change(&store, "bob", &["x"], true).await;
    assert!(settle(&store, &read, reading).await);
    assert_eq!(stale(&store, "ann", &["x"]).await, had("x", true));
}

pub(crate) async fn settling_again_changes_nothing(store: Shared) {
    let admission = Admission { reader: Some(key("bob")), ..locks(&["x"]) };
    let fence = granted(&store, &admission).await;
    let settlement = changes(&admission, fence, &["x"]);
    assert!(store.settle(&settlement).await.unwrap());
    granted(&store, &reads("ann", &["x"])).await;
    assert!(!store.settle(&settlement).await.unwrap());
    assert_eq!(stale(&store, "ann", &["x"]).await, [], "it had been raised by this call");
    change(&store, "eve", &["x"], true).await;
    assert_eq!(stale(&store, "ann", &["x"]).await, had("x", true));
}

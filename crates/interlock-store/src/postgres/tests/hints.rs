//! What one process gives back, another one hears of without asking.

use std::{sync::Arc, time::Duration};

use interlock_sync::store::{Admission, Admitted, Key, OpId, Settlement, Store, Wish};
use tokio::sync::mpsc;

use super::{becomes_true, key, open, server};

const MINUTE: Duration = Duration::from_secs(60);

fn wish(name: &str, patience: Duration) -> Admission {
    Admission {
        call: OpId::fresh(),
        charges: vec![],
        places: vec![],
        locks: vec![Wish { key: key(name), is_shared: false }],
        once: None,
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl: MINUTE,
        remember: MINUTE,
        is_again: false,
        patience,
    }
}

/// Takes a lock, and says how it is given back.
async fn held(store: &dyn Store, name: &str) -> Settlement {
    let wish = wish(name, Duration::ZERO);
    let Admitted::Granted { fence } = store.admit(&wish).await.unwrap() else { panic!("it is free") };
    Settlement {
        call: wish.call,
        fence: Some(fence),
        places: vec![],
        locks: vec![key(name)],
        once: None,
        reader: None,
        changes: vec![],
        is_success: true,
        remember: MINUTE,
    }
}

/// How many connections listen in a namespace.
fn listening(namespace: &str) -> bool {
    let shown = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name =";
    server().query(&format!("{shown} '{namespace}'")).unwrap() == "1"
}

#[tokio::test]
async fn who_waits_in_one_process_hears_what_another_gives_back() {
    let (one, other) = (open("hints").await, open("hints").await);
    let (tell, mut told) = mpsc::unbounded_channel();
    other.on_freed(Arc::new(move |key: &Key| drop(tell.send(key.clone()))));
    becomes_true("it listens", || listening("hints")).await;
    let (a, b) = (held(&*one, "a").await, held(&*one, "b").await);
    assert!(matches!(other.admit(&wish("a", MINUTE)).await.unwrap(), Admitted::Waits { .. }));
    // Nobody waits for the one, somebody for the other.
    assert!(one.settle(&b).await.unwrap() && one.settle(&a).await.unwrap());
    assert_eq!(told.recv().await, Some(key("a")));
    // Also over a connection that was made anew.
    let again = held(&*one, "c").await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'hints'";
    assert_eq!(server().query(end).unwrap(), "1");
    becomes_true("it is gone", || !listening("hints")).await;
    becomes_true("it listens again", || listening("hints")).await;
    assert!(matches!(other.admit(&wish("c", MINUTE)).await.unwrap(), Admitted::Waits { .. }));
    assert!(one.settle(&again).await.unwrap());
    assert_eq!(told.recv().await, Some(key("c")));
    assert!(told.try_recv().is_err(), "what nobody waits for is not told");
    drop(other);
    becomes_true("nobody listens for a store that is gone", || !listening("hints")).await;
}

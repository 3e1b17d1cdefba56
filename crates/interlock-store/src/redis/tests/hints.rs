//! What one process gives back, another one hears of without asking.

use std::{sync::Arc, time::Duration};

use interlock_sync::store::{Admission, Admitted, Key, OpId, Settlement, Store, Wish};
use tokio::sync::mpsc;

use super::{MINUTE, command, key, open, operator, server};

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

fn listening(store: &dyn Store) -> mpsc::UnboundedReceiver<Key> {
    let (tell, told) = mpsc::unbounded_channel();
    store.on_freed(Arc::new(move |key: &Key| drop(tell.send(key.clone()))));
    told
}

#[tokio::test]
async fn who_waits_in_one_process_hears_what_another_gives_back() {
    let redis = server();
    let (one, other) = (open(&redis.url()).await, open(&redis.url()).await);
    let mut told = listening(&*other);
    let (a, b) = (held(&*one, "a").await, held(&*one, "b").await);
    assert!(matches!(other.admit(&wish("a", MINUTE)).await.unwrap(), Admitted::Waits { .. }));
    // Nobody waits for the one, somebody for the other.
    assert!(one.settle(&b).await.unwrap() && one.settle(&a).await.unwrap());
    assert_eq!(told.recv().await, Some(key("a")));
    assert!(told.try_recv().is_err(), "what nobody waits for is not told");
    // Also over a connection that was made anew.
    let again = held(&*one, "c").await;
    command("CLIENT KILL TYPE pubsub").exec(&mut operator(&redis)).unwrap();
    while other.admit(&wish("c", MINUTE)).await.is_err() {}
    assert!(one.settle(&again).await.unwrap());
    assert_eq!(told.recv().await, Some(key("c")));
}

#[tokio::test]
async fn an_account_that_may_neither_tell_nor_listen_goes_on_without() {
    let redis = server();
    command("ACL SETUSER quiet on >secret ~* resetchannels +@all").exec(&mut operator(&redis)).unwrap();
    let store = open(&redis.url().replace("redis://", "redis://quiet:secret@")).await;
    let mut told = listening(&*store);
    let a = held(&*store, "a").await;
    let next = wish("a", MINUTE);
    assert!(matches!(store.admit(&next).await.unwrap(), Admitted::Waits { .. }));
    assert!(store.settle(&a).await.unwrap());
    assert!(matches!(store.admit(&next).await.unwrap(), Admitted::Granted { .. }));
    assert!(told.try_recv().is_err());
}

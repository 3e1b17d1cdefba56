//! A call that was admitted and holds what it has for as long as it is let.

use std::time::Duration;

use interlock_store::{Options, open};
use interlock_sync::store::{
    Admission, Admitted, Ending, Fence, Fingerprint, OnceKey, OpId, Places, Settlement, Wish,
};

use crate::{
    holder::{TTL, say},
    key,
    process::Orders,
};

const KEEP: Duration = Duration::from_secs(3600);

/// A call that wants the door for itself, the only place, and to do this work once.
pub(crate) fn wish(work: &str) -> Admission {
    Admission {
        call: OpId::fresh(),
        charges: vec![],
        places: vec![Places { key: key("hall"), limit: 1 }],
        locks: vec![Wish { key: key("door"), is_shared: false }],
        once: Some(OnceKey { key: key(work), fingerprint: Fingerprint([7; 32]), keep: KEEP }),
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl: TTL,
        remember: KEEP,
        is_again: false,
        patience: Duration::ZERO,
    }
}

/// How it ends: its work is done.
pub(crate) fn end(wish: &Admission, fence: Fence) -> Settlement {
    let done = Ending::Completed(b"done".to_vec());
    Settlement {
        call: wish.call,
        fence: Some(fence),
        places: wish.places.iter().map(|places| places.key.clone()).collect(),
        locks: wish.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: wish.once.as_ref().map(|once| (once.key.clone(), Some(done), KEEP)),
        reader: None,
        changes: vec![],
        is_success: true,
        remember: KEEP,
    }
}

/// Is let in, holds on until that is refused, and settles then as if nothing had happened.
pub(crate) async fn call(orders: Orders) {
    let options = Options::default().namespace(orders.namespace).timeout(Duration::from_secs(20));
    let store = open(&orders.url, &options).await.unwrap();
    let wish = wish(&format!("work-{}", orders.id));
    let fence = loop {
        match store.admit(&wish).await {
            Ok(Admitted::Granted { fence }) => break fence,
            Ok(Admitted::Waits { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
            Ok(other) => panic!("{other:?}"),
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
    };
    say(&format!("holds {}", fence.0));
    let end = end(&wish, fence);
    loop {
        match store.prolong(&end, TTL).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let settled = store.settle(&end).await.unwrap();
    say(&format!("settled {settled}"));
}

//! The holder of a lease, who writes under it for as long as it is let.

use std::{io::Write, time::Duration};

use interlock_store::{Options, open};
use interlock_sync::{
    lease::Leases,
    store::{Change, Content, Expect, Mutation, OpId, Outcome, Refusal},
};

use crate::{key, process::Orders};

pub(crate) const LEASE: &str = "job";
pub(crate) const GUARDED: &str = "guarded";
pub(crate) const TTL: Duration = Duration::from_millis(400);

/// Takes the lease and writes. It never asks whether it still holds it: the store has to.
pub(crate) async fn hold(orders: Orders) {
    let options = Options::default().namespace(orders.namespace).timeout(Duration::from_secs(20));
    let store = open(&orders.url, &options).await.unwrap();
    let leases = Leases::new(store.clone(), TTL);
    let lease = leases.acquire(&key(LEASE), Duration::from_secs(30)).await.unwrap().expect("it is free");
    let mut said = false;
    loop {
        let change =
            Change::Put { key: key(GUARDED), expect: Expect::Any, content: Content::Bytes(b"first".into()) };
        match store.mutate(&lease.guard(Mutation::new(OpId::fresh(), change))).await {
            Ok(Outcome::Applied(_)) if !said => {
                said = true;
                say(&format!("holds {}", lease.fence().0));
            }
            Ok(Outcome::Applied(_)) => {}
            Ok(Outcome::Refused(Refusal::Fenced { current })) => {
                let current = current.map_or(0, |fence| fence.0);
                return say(&format!("fenced {current}"));
            }
            Ok(Outcome::Refused(refusal)) => panic!("{refusal:?}"),
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "whoever started this process listens")]
pub(crate) fn say(line: &str) {
    let mut output = std::io::stdout();
    output.write_all(format!("\n{line}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

//! A call as a gateway admits it, with every control on: what the stores are asked in the rows about admissions.

use std::time::Duration;

use anyhow::Result;
use interlock_sync::store::{Admission, Charge, Fence, Key, OpId, Places, Quota, Settlement, Wish};

const TTL: Duration = Duration::from_secs(60);

/// A call with a rate limit, a place in flight, a lock, and a reader who must be fresh.
pub(crate) fn call(locked: &str) -> Result<Admission> {
    let (caller, locked) = (Key::new("caller:alice@example.org")?, Key::new(locked)?);
    Ok(Admission {
        call: OpId::fresh(),
        charges: vec![Charge {
            key: caller.clone(),
            quota: Quota::bucket(1_000_000, Duration::from_secs(1))?,
        }],
        places: vec![Places { key: caller.clone(), limit: 10 }],
        locks: vec![Wish { key: locked.clone(), is_shared: false }],
        once: None,
        reader: Some(caller),
        observes: vec![locked],
        requires_fresh: vec![],
        ttl: TTL,
        remember: TTL,
        is_again: false,
        patience: TTL,
    })
}

/// The end of such a call, which changed what it had locked.
pub(crate) fn end(call: &Admission, fence: Fence) -> Settlement {
    let locks: Vec<Key> = call.locks.iter().map(|wish| wish.key.clone()).collect();
    Settlement {
        call: call.call,
        fence: Some(fence),
        places: call.places.iter().map(|places| places.key.clone()).collect(),
        changes: locks.clone(),
        locks,
        once: None,
        reader: call.reader.clone(),
        is_success: true,
        remember: TTL,
    }
}

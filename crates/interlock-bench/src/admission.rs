//! Calls as a gateway admits them: what the stores are asked in the rows about admissions.

use std::time::Duration;

use anyhow::Result;
use interlock_sync::store::{
    Admission, Charge, Ending, Fence, Fingerprint, Key, OnceKey, OpId, Places, Quota, Settlement, Wish,
};

const TTL: Duration = Duration::from_secs(60);

/// A call with a lock and nothing else, which is what a guard without a policy asks for.
pub(crate) fn locking(locked: &str) -> Result<Admission> {
    let call = call(locked)?;
    Ok(Admission { charges: vec![], places: vec![], reader: None, observes: vec![], ..call })
}

/// A call with every control there is: it also happens once, and its reader must be fresh, who has to have seen what it locks.
pub(crate) fn controlled(locked: &str) -> Result<Admission> {
    let call = call(locked)?;
    let key = Key::new(format!("transfer:{}", call.call))?;
    Ok(Admission {
        once: Some(OnceKey { key, fingerprint: Fingerprint([7; 32]), keep: TTL }),
        requires_fresh: call.observes.clone(),
        ..call
    })
}

/// A call with a rate limit, a place in flight, a lock, and a reader who sees what it locks.
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

/// The end of such a call, which was answered and, if versions matter to it, changed what it had locked.
pub(crate) fn end(call: &Admission, fence: Fence) -> Settlement {
    let locks: Vec<Key> = call.locks.iter().map(|wish| wish.key.clone()).collect();
    let answer = Ending::Completed(b"moved".to_vec());
    Settlement {
        call: call.call,
        fence: Some(fence),
        places: call.places.iter().map(|places| places.key.clone()).collect(),
        changes: if call.reader.is_some() { locks.clone() } else { vec![] },
        locks,
        once: call.once.as_ref().map(|once| (once.key.clone(), Some(answer), once.keep)),
        reader: call.reader.clone(),
        is_success: true,
        remember: TTL,
    }
}

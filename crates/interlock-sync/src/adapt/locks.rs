//! The locks behind a policy: in this process, or in a store for all processes.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::{limits::unanswered, policy::Terms, refusal::RefusalReason};
use crate::{
    lock::{Guards, KeyedLock, Mode},
    spell::joined,
    store::Wish,
    turn::{Turn, Turns},
};

/// Who has what, of all calls.
#[derive(Debug)]
pub(super) enum Locks {
    Local(Arc<KeyedLock<String>>),
    Shared { turns: Turns, policy: String },
}

/// What one call has. The fields are never read: dropping them gives it back.
#[derive(Debug)]
pub(super) enum Locked {
    Local { _guards: Guards<String, Arc<KeyedLock<String>>> },
    Shared { _turn: Turn },
    Nothing,
}

impl Locks {
    pub(super) fn new(terms: &Terms) -> Self {
        match &terms.store {
            None => Self::Local(Arc::new(KeyedLock::new())),
            Some(store) => {
                let turns = Turns { store: Arc::clone(store), ttl: terms.hold };
                Self::Shared { turns, policy: terms.name.clone() }
            }
        }
    }

    /// Takes all locks in the order of arrival. Dropping it leaves every line.
    pub(super) async fn take(
        &self,
        wanted: &[(String, Mode)],
        deadline: Instant,
    ) -> Result<Locked, RefusalReason> {
        let late = || RefusalReason::Locked { keys: wanted.iter().map(|(key, _)| key.clone()).collect() };
        match self {
            _ if wanted.is_empty() => Ok(Locked::Nothing),
            Self::Local(locks) => {
                let guards = timeout_at(deadline, locks.lock_all_owned(wanted.iter().cloned())).await;
                Ok(Locked::Local { _guards: guards.map_err(|_| late())? })
            }
            Self::Shared { turns, policy } => {
                let wishes = wishes(policy, wanted);
                let turn = turns.take(wishes, deadline).await.map_err(unanswered)?;
                Ok(Locked::Shared { _turn: turn.ok_or_else(late)? })
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Local(locks) => locks.is_empty(),
            Self::Shared { .. } => true,
        }
    }
}

/// Each key once; alone, if it is wanted alone at all.
fn wishes(policy: &str, wanted: &[(String, Mode)]) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = vec![];
    for (name, mode) in wanted {
        let (key, is_shared) = (joined("lock", &[policy, name]), *mode == Mode::Shared);
        match wishes.iter_mut().find(|wish| wish.key == key) {
            Some(wish) => wish.is_shared &= is_shared,
            None => wishes.push(Wish { key, is_shared }),
        }
    }
    wishes
}

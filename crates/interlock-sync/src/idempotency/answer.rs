//! What an effect is told, what it says, and what becomes of a request.

use std::{sync::Arc, time::Duration};

use super::derive;
use crate::store::{Ending, Fence, OpId, StoreError};

/// What an effect is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectContext {
    provider_key: String,
    purpose: Arc<str>,
    key: Box<str>,
    fence: Fence,
}

impl EffectContext {
    pub(super) fn new(purpose: &Arc<str>, key: &str, fence: Fence) -> Self {
        let provider_key = derive::provider_key(purpose, key);
        Self { provider_key, purpose: Arc::clone(purpose), key: key.into(), fence }
    }

    /// The key to send to an external provider: 32 hexadecimal digits that depend on nothing but the idempotency key (and the purpose it
    /// was set up with), so it is the same whenever and by whomever the call is sent again.
    #[must_use]
    pub fn provider_key(&self) -> &str {
        &self.provider_key
    }

    /// The id under which this effect changes a record or appends to a log, for each such step a name of its own, such as `debit`. Like the
    /// provider key it depends on nothing else, so an effect that is tried again does the step once, and after a crash
    /// [`Store::applied`](crate::store::Store::applied) with [`Idempotency::op_id`](super::Idempotency::op_id) says whether it was done.
    #[must_use]
    pub fn op_id(&self, step: &str) -> OpId {
        derive::op_id(&self.purpose, &self.key, step)
    }

    /// The fence of this attempt, for those who log it or settle it later.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fence
    }
}

/// Why an effect has no answer of success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It certainly did not happen, and shall not under this key: the answer is stored, and duplicates are told it.
    Final(Vec<u8>),
    /// It certainly did not happen, and may be tried again under this key: the key is free again.
    Retryable(Vec<u8>),
    /// Nobody can say whether it happened, for instance because the provider's answer was lost. The key is left in doubt.
    Unknown,
}

/// What became of a request.
#[derive(Debug)]
#[must_use = "it says whether the effect happened"]
pub enum Ran<E = Ending> {
    /// The effect ran now, and this is how it ended.
    Done {
        /// How it ended.
        ending: E,
        /// Whether duplicates will be told.
        kept: Kept,
    },
    /// The effect ran before, and this is how it ended then.
    Replayed(E),
    /// The key was used for another request.
    Mismatch,
    /// Somebody else was at it, and still was when the time to wait was up.
    Running {
        /// When to ask again at the latest; `None` if nobody can say.
        retry_after: Option<Duration>,
    },
    /// The effect may have happened. To be settled by somebody who knows, with this fence; never run again by itself.
    InDoubt {
        /// The fence of the attempt that vanished.
        fence: Fence,
    },
}

/// Whether an ending was stored.
#[derive(Debug)]
pub enum Kept {
    /// It was.
    Yes,
    /// It is not known to be: duplicates may be told that the key is in doubt.
    No {
        /// Why the store could not be asked; `None` if it refused, because somebody settled the attempt otherwise or it was forgotten.
        error: Option<StoreError>,
    },
}

/// Why a request has no ending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRun {
    /// The key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// Somebody else was at it, and still was when the time to wait was up.
    #[error("the same request is still under way")]
    Running {
        /// When to ask again at the latest; `None` if nobody can say.
        retry_after: Option<Duration>,
    },
    /// The effect may have happened. To be settled by somebody who knows, with this fence.
    #[error("the same request was started before, and nobody knows whether it took effect (fence {})", fence.0)]
    InDoubt {
        /// The fence of the attempt that vanished.
        fence: Fence,
    },
}

impl<E> Ran<E> {
    /// As a result, for `?`: the ending, now or from before.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn into_result(self) -> Result<E, NotRun> {
        match self {
            Self::Done { ending, .. } | Self::Replayed(ending) => Ok(ending),
            Self::Mismatch => Err(NotRun::Mismatch),
            Self::Running { retry_after } => Err(NotRun::Running { retry_after }),
            Self::InDoubt { fence } => Err(NotRun::InDoubt { fence }),
        }
    }

    /// The ending, if there is one, now or from before.
    #[must_use]
    pub fn ending(self) -> Option<E> {
        self.into_result().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_an_ending_is_an_error_with_words() {
        let words = |ran: Ran<u8>| ran.into_result().unwrap_err().to_string();
        assert_eq!(Ran::Replayed(1).into_result(), Ok(1));
        assert!(words(Ran::Mismatch).contains("another request"));
        assert!(words(Ran::Running { retry_after: None }).contains("under way"));
        assert!(words(Ran::InDoubt { fence: Fence(7) }).contains("fence 7"));
    }
}

//! From a mutation to what became of it, also when answers are lost.

use super::Records;
use crate::{
    retry::{Again, retry},
    store::{Applied, Change, Expect, Mutation, OpId, Outcome, Refusal, StoreError},
};

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It took effect, once.
    Applied(Applied),
    /// It did not take effect and will not.
    Refused(Refusal),
    /// Nobody can say yet: an answer was lost, and asking again did not settle it. [`Store::applied`](crate::store::Store::applied)
    /// with this id tells later; sending the same mutation again is safe.
    InDoubt {
        /// Which operation.
        op: OpId,
    },
}

/// Why a change has not surely taken effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsettled {
    /// It did not take effect and will not.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Nobody can say yet whether it did.
    #[error("nobody can say yet whether the operation {op} took effect; asking for it by its id tells later")]
    InDoubt {
        /// Which operation.
        op: OpId,
    },
}

impl Settled {
    /// As a result, for `?`.
    ///
    /// # Errors
    ///
    /// When it was refused, and when nobody can say.
    pub fn into_result(self) -> Result<Applied, Unsettled> {
        match self {
            Self::Applied(applied) => Ok(applied),
            Self::Refused(refusal) => Err(Unsettled::Refused(refusal)),
            Self::InDoubt { op } => Err(Unsettled::InDoubt { op }),
        }
    }
}

impl Records {
    /// Sends a mutation, and sends it again under the same id for as long as its answer is lost.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    ///
    /// # Cancel safety
    ///
    /// A dropped future leaves the mutation applied or not, never half; its id tells which.
    pub async fn settle(&self, mutation: &Mutation) -> Result<Settled, StoreError> {
        let mut doubt = false;
        let send = || self.store.mutate(mutation);
        let answer = retry(&self.resend, send, |answer| match answer {
            Err(error) => {
                doubt |= error.is_in_doubt();
                Again::from(error.is_retryable())
            }
            Ok(_) => Again::No,
        })
        .await;
        match answer {
            Ok(Outcome::Applied(applied)) => Ok(Settled::Applied(applied)),
            Ok(Outcome::Refused(refusal)) if doubt && !is_final(mutation, &refusal) => {
                Ok(Settled::InDoubt { op: mutation.op })
            }
            Ok(Outcome::Refused(refusal)) => Ok(Settled::Refused(refusal)),
            Err(_) if doubt => Ok(Settled::InDoubt { op: mutation.op }),
            Err(error) => Err(error),
        }
    }
}

/// Whether a refusal also speaks for an earlier copy of the same operation that may still be on its way. A version that is gone and a
/// fence that has passed never come back; a balance that is too low now may not be a moment later.
fn is_final(mutation: &Mutation, refusal: &Refusal) -> bool {
    let by_version = matches!(
        mutation.change,
        Change::Put { expect: Expect::Version(_), .. } | Change::Delete { expect: Expect::Version(_), .. }
    );
    match refusal {
        Refusal::Fenced { .. } | Refusal::Mismatch { .. } => true,
        Refusal::Conflict { .. } => by_version,
        _ => false,
    }
}

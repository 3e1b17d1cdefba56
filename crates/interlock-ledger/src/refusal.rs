//! Why a tool says no, in words a model can act on: what is so, that nothing has changed, and what to do next.

use std::time::Duration;

use interlock_sync::store::{self, Key, OpId, StoreError};
use rmcp::model::{CallToolResult, ContentBlock, IntoContents};

/// A refusal. Nothing has changed, but where it says that this is in doubt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// What was named is not there.
    #[error("there is no {kind} `{id}`")]
    Missing {
        /// What kind of thing.
        kind: String,
        /// Which.
        id: String,
    },
    /// What shall be made is there already.
    #[error("there is a {kind} `{id}` already; nothing was changed")]
    Exists {
        /// What kind of thing.
        kind: &'static str,
        /// Which.
        id: String,
    },
    /// The account has too little.
    #[error("account `{id}` has {available} credits, which is too few; nothing was changed")]
    TooFew {
        /// Which account.
        id: String,
        /// What it has.
        available: i64,
    },
    /// The number would be too large to be counted.
    #[error("the {kind} `{id}` cannot hold that much; nothing was changed")]
    TooMany {
        /// What kind of thing.
        kind: String,
        /// Which.
        id: String,
    },
    /// Paying oneself is a mistake.
    #[error("`{id}` is both payer and payee; name two accounts")]
    SameAccount {
        /// Which.
        id: String,
    },
    /// Somebody else has changed it since it was read.
    #[error(
        "the {kind} `{id}` has changed since you read it (now {current}); read it again and repeat your change on what it says now"
    )]
    Changed {
        /// What kind of thing.
        kind: &'static str,
        /// Which.
        id: String,
        /// The version or hash it has now.
        current: String,
    },
    /// It belongs to somebody else.
    #[error("the {kind} `{id}` is not {caller}'s; nothing was changed")]
    NotYours {
        /// What kind of thing.
        kind: &'static str,
        /// Which.
        id: String,
        /// Who asked.
        caller: String,
    },
    /// The file has no room for more.
    #[error("the file of `{id}` is full; nothing was changed")]
    Full {
        /// Whose.
        id: String,
    },
    /// Somebody else is at it.
    #[error("somebody else is working on the {kind} `{id}`; try again in {} ms", .after.as_millis())]
    Busy {
        /// What kind of thing.
        kind: &'static str,
        /// Which.
        id: String,
        /// When to come back.
        after: Duration,
    },
    /// The caller comes too often.
    #[error("too many calls by {caller}: try again in {} ms", .after.as_millis())]
    TooOften {
        /// Who.
        caller: String,
        /// When to come back.
        after: Duration,
    },
    /// The caller has too many calls under way.
    #[error(
        "{caller} has {in_use} calls under way, of {limit} that are allowed; wait for one to be answered"
    )]
    TooManyAtOnce {
        /// Who.
        caller: String,
        /// How many.
        in_use: u32,
        /// Of how many.
        limit: u32,
    },
    /// The provider will not have it.
    #[error("the payment provider declined the charge for order `{id}`: {reason}")]
    Declined {
        /// Which order.
        id: String,
        /// What it said.
        reason: String,
    },
    /// The order was started with another payment method.
    #[error(
        "order `{id}` was started with another payment method; use that one, or ask with `get_order` how far it is"
    )]
    OtherPayment {
        /// Which order.
        id: String,
    },
    /// The provider could not be reached; nobody was charged.
    #[error("the payment provider is not reachable, and order `{id}` was not charged; try again later")]
    NoProvider {
        /// Which order.
        id: String,
    },
    /// The provider's answer was lost.
    #[error(
        "it could not be learnt or kept what became of the charge: order `{id}` may have been charged and is in doubt; call process_order again to settle it, \
         which does not charge twice"
    )]
    ChargeInDoubt {
        /// Which order.
        id: String,
    },
    /// A naive twin lost the provider's answer, and thinks that nothing has happened.
    #[error("the payment failed: {reason}; order `{id}` is pending again")]
    PaymentFailed {
        /// Which order.
        id: String,
        /// What was seen of it.
        reason: String,
    },
    /// The state could not be asked.
    #[error("the server's state is not reachable just now ({reason}); nothing was changed, try again later")]
    Unavailable {
        /// What is known of it.
        reason: String,
    },
    /// The answer of the state was lost.
    #[error(
        "an answer was lost: the change may or may not have been made (operation {op}); read before you try again"
    )]
    InDoubt {
        /// Which operation.
        op: String,
    },
    /// Our fault.
    #[error("the server failed: {reason}")]
    Internal {
        /// What is known of it.
        reason: String,
    },
}

impl Refusal {
    /// The refusal of a store, about a key of ours.
    pub(crate) fn by_store(refusal: store::Refusal) -> Self {
        match refusal {
            store::Refusal::Missing { key } => named(&key, |kind, id| Self::Missing { kind, id }),
            store::Refusal::Overflow { key } => named(&key, |kind, id| Self::TooMany { kind, id }),
            store::Refusal::Short { key, available } => named(&key, |_, id| Self::TooFew { id, available }),
            store::Refusal::NotANumber { key } => {
                Self::Internal { reason: format!("`{key}` holds no number") }
            }
            store::Refusal::Conflict { key, .. } => {
                Self::Internal { reason: format!("`{key}` is not as expected") }
            }
            store::Refusal::Fenced { .. } => Self::Internal { reason: "the lease was lost".into() },
            store::Refusal::Mismatch { op } => {
                Self::Internal { reason: format!("the id {op} was used for another operation") }
            }
            // A refusal that a later version of the library knows.
            other => Self::internal(other),
        }
    }

    /// An operation whose answer was lost.
    pub(crate) fn in_doubt(op: OpId) -> Self {
        Self::InDoubt { op: op.to_string() }
    }

    /// A failure of ours.
    pub(crate) fn internal(reason: impl ToString) -> Self {
        Self::Internal { reason: reason.to_string() }
    }

    /// As the answer to a call.
    pub(crate) fn into_answer(self) -> CallToolResult {
        CallToolResult::error(self.into_contents())
    }
}

/// What a key of ours names: `account:alice` is the account `alice`.
fn named<T>(key: &Key, make: impl FnOnce(String, String) -> T) -> T {
    let (kind, id) = key.as_str().split_once(':').unwrap_or(("record", key.as_str()));
    make(kind.to_owned(), id.to_owned())
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            // For a mutation the id of the operation is known, and whoever sends one says it; here it is a read or a count.
            StoreError::Unavailable { reason, .. } | StoreError::InDoubt { reason, .. } => {
                Self::Unavailable { reason }
            }
            StoreError::Broken { reason, .. } => Self::Internal { reason },
            other => Self::internal(other),
        }
    }
}

impl IntoContents for Refusal {
    fn into_contents(self) -> Vec<ContentBlock> {
        vec![ContentBlock::text(self.to_string())]
    }
}

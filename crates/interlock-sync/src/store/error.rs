//! When the store itself could not be asked. Driver codes fold to these few kinds, because they are what a caller can act on.

use std::error::Error;

/// Why an operation has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is away, and the operation was not sent: it has not taken effect.
    #[error("the store is not reachable: {reason}")]
    Unavailable {
        /// What was tried.
        reason: String,
        /// What the driver said.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The operation was sent and its answer was lost: it may have taken effect. Ask again with the same id.
    #[error("the answer of the store was lost: {reason}")]
    InDoubt {
        /// What was tried.
        reason: String,
        /// What the driver said.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The store refused for good: a broken schema, a wrong password, an answer that makes no sense.
    #[error("the store failed: {reason}")]
    Broken {
        /// What was tried.
        reason: String,
        /// What the driver said.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StoreError {
    /// Whether the same operation, with the same ids, may succeed when it is sent again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::InDoubt { .. })
    }

    /// Whether the operation may have taken effect.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt { .. })
    }

    /// The store is away and nothing was sent.
    pub fn unavailable(reason: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable { reason: reason.into(), source: Some(source.into()) }
    }

    /// The answer was lost.
    pub fn in_doubt(reason: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::InDoubt { reason: reason.into(), source: Some(source.into()) }
    }

    /// The store refused for good.
    pub fn broken(reason: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Broken { reason: reason.into(), source: Some(source.into()) }
    }
}

//! What goes wrong with upstreams, in words for whoever keeps the guard.

use interlock_sync::gate::{OpenError, StartError};

/// Why an upstream did not start.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct StartFailure {
    /// What happened, with the last words of the server if it said any.
    pub reason: String,
}

/// An upstream that is not there just now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server `{upstream}` {reason}")]
pub struct Away {
    /// Which.
    pub upstream: String,
    /// Why, as a predicate: "is being started", "is gone: …".
    pub reason: String,
    /// Whether it is worth asking again.
    pub comes_back: bool,
}

/// Why the guard did not start. What had started has been stopped again.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// A required upstream did not start.
    #[error("failed to start the server `{upstream}`: {reason}")]
    Upstream {
        /// Which.
        upstream: String,
        /// Why, with the last words of the server if it said any.
        reason: String,
    },
    /// Something else broke on the way.
    #[error("failed to start: {0}")]
    Other(String),
}

impl StartFailure {
    /// A failure for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl From<StartError> for ManageError {
    fn from(error: StartError) -> Self {
        let StartError::Failed { source, .. } = &error else { return Self::Other(error.to_string()) };
        match source.downcast_ref::<OpenError>() {
            Some(OpenError::Failed { part, source }) => {
                Self::Upstream { upstream: part.clone(), reason: source.to_string() }
            }
            Some(other) => Self::Other(other.to_string()),
            None => Self::Other(source.to_string()),
        }
    }
}

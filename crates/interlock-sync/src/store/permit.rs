//! Permits: so many at once, and none lost with the process that held it.

use std::time::Duration;

use super::{Key, OpId};

/// A wish for a permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitRequest {
    /// Whose permits: the caller.
    pub key: Key,
    /// Who holds it: one id per call.
    pub holder: OpId,
    /// How many may be out at once.
    pub limit: u32,
    /// How long it is held unless it is renewed.
    pub ttl: Duration,
}

/// What became of a [`PermitRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermitAnswer {
    /// It is yours.
    Granted {
        /// How many are out now, yours included.
        in_use: u32,
    },
    /// All are out.
    Full {
        /// How many that is.
        in_use: u32,
        /// When the first of them runs out at the latest, unless it is renewed.
        retry_after: Duration,
    },
}

//! Payments: the provider, which is a process of its own so that faults can be put between it and us, and its client.

mod client;
mod provider;

use serde::{Deserialize, Serialize};

pub use self::{
    client::{ChargeError, Payments},
    provider::{Faults, serve},
};

/// A wish for a charge, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Charge {
    /// What is paid for.
    pub order_id: String,
    /// How much.
    pub amount: i64,
    /// What makes two wishes the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// A charge that was made, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Charged {
    /// Which charge it is.
    pub charge_id: String,
    /// What was wished.
    #[serde(flatten)]
    pub charge: Charge,
}

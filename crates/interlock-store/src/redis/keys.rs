//! What things are called in the server: the only place that knows.

use interlock_sync::store::{Key, OpId};

/// The names of one namespace.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// A namespace has no braces, so its hash tag is itself.
    pub(super) fn new(namespace: &str) -> Self {
        Self { prefix: format!("interlock:{{{namespace}}}:") }
    }

    /// The last version that was given out.
    pub(super) fn version(&self) -> String {
        format!("{}version", self.prefix)
    }

    /// The index of all records.
    pub(super) fn records(&self) -> String {
        format!("{}records", self.prefix)
    }

    /// What the key of every record starts with.
    pub(super) fn record_prefix(&self) -> String {
        format!("{}record:", self.prefix)
    }

    /// A record.
    pub(super) fn record(&self, key: &Key) -> String {
        format!("{}record:{key}", self.prefix)
    }

    /// What a mutation did.
    pub(super) fn op(&self, op: &OpId) -> String {
        format!("{}op:{op}", self.prefix)
    }

    /// A lease.
    pub(super) fn lease(&self, key: &Key) -> String {
        format!("{}lease:{key}", self.prefix)
    }

    /// What is left of a quota.
    pub(super) fn rate(&self, key: &Key) -> String {
        format!("{}rate:{key}", self.prefix)
    }

    /// The permits that are out.
    pub(super) fn permits(&self, key: &Key) -> String {
        format!("{}permits:{key}", self.prefix)
    }

    /// An idempotency key.
    pub(super) fn attempt(&self, key: &Key) -> String {
        format!("{}attempt:{key}", self.prefix)
    }

    /// A log.
    pub(super) fn log(&self, key: &Key) -> String {
        format!("{}log:{key}", self.prefix)
    }
}

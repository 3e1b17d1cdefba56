//! From a request to its fingerprint, and from an idempotency key to the key that a provider sees: SHA-256 both.

use sha2::{Digest, Sha256};

use crate::store::{Fingerprint, OpId};

impl Fingerprint {
    /// The fingerprint of a request that is one run of bytes.
    #[must_use]
    pub fn of(request: impl AsRef<[u8]>) -> Self {
        Self::of_parts([request])
    }

    /// The fingerprint of a request that has several parts, such as tool, caller and arguments. Each part counts with its length, so parts
    /// that are only cut elsewhere give another one.
    ///
    /// ```
    /// use interlock_sync::store::Fingerprint;
    ///
    /// assert_ne!(Fingerprint::of_parts(["pay", "alice", "10"]), Fingerprint::of_parts(["pay", "alice1", "0"]));
    /// ```
    #[must_use]
    pub fn of_parts<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

/// The key that a provider sees: short enough for all of them, and nothing of our key can be read from it.
pub(super) fn provider_key(purpose: &str, key: &str) -> String {
    let Fingerprint(bytes) = Fingerprint::of_parts(["interlock provider key", purpose, key]);
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The id of one step of the effect.
pub(super) fn op_id(purpose: &str, key: &str, step: &str) -> OpId {
    OpId::derived(Fingerprint::of_parts(["interlock op-id", purpose, key, step]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_cut_elsewhere_missing_or_empty_give_another_fingerprint() {
        let all = [
            Fingerprint::of_parts::<&str>([]),
            Fingerprint::of_parts([""]),
            Fingerprint::of_parts(["", ""]),
            Fingerprint::of_parts(["ab"]),
            Fingerprint::of_parts(["a", "b"]),
            Fingerprint::of_parts(["ab", ""]),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(Fingerprint::of("ab"), Fingerprint::of_parts([b"ab"]));
    }

    /// Providers remember the key, so it must stay the same from release to release.
    #[test]
    fn a_provider_key_never_changes() {
        assert_eq!(provider_key("", "order-1"), "a62550065d01a0b5d0028596bad8c919");
        assert_ne!(provider_key("charge", "order-1"), provider_key("refund", "order-1"));
        assert_ne!(provider_key("", "order-1"), provider_key("", "order-2"));
    }

    /// Stores remember the id, and whoever looks after a crash may run another release.
    #[test]
    fn an_op_id_never_changes() {
        assert_eq!(op_id("", "order-1", "debit").to_string(), "ac939cdd7324a6c0da2cc2af60090836");
        assert_ne!(op_id("charge", "order-1", "debit"), op_id("refund", "order-1", "debit"));
        assert_ne!(op_id("", "order-1", "debit"), op_id("", "order-1", "credit"));
    }
}

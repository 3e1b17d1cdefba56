//! Keys that somebody was given.

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use crate::{call::Caller, policy::ApiKey};

/// The keys that were given out, as digests.
#[derive(Debug)]
pub(super) struct ApiKeys(Vec<(Caller, ApiKey)>);

impl ApiKeys {
    pub(super) fn new(keys: &[ApiKey]) -> Self {
        Self(keys.iter().map(|key| (Caller::new(&format!("key:{}", key.name)), key.clone())).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose key this is. Every digest is compared to the end, so that time tells neither how much of a key is right nor whose it is.
    pub(super) fn owner(&self, key: &[u8]) -> Option<Caller> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let mut found = u32::MAX;
        for (index, (_, known)) in (0_u32..).zip(&self.0) {
            let is_equal: Choice = known.sha256.ct_eq(&digest);
            found.conditional_assign(&index, is_equal);
        }
        self.0.get(found as usize).map(|(caller, _)| caller.clone())
    }
}

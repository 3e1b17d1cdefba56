//! Calls of which nobody knows whether they took effect, and their settling.

use std::sync::Arc;

use super::{admit::Warden, limits::Once};
use crate::{
    idempotency::{Doubts, Resolution},
    spell::joined,
    store::{Doubt, Key, StoreError},
};

impl Warden {
    /// At most `limit` calls with an idempotency key that are in doubt: they were started, and their process crashed, their work panicked
    /// or was cut off before it had an answer. Each is told to whoever sends it again, and never run again by itself; on a store, those of
    /// all processes are listed, and of other policies those with very long keys.
    ///
    /// A key reads `once:POLICY:TOOL:CALLER:KEY`, with what could be mistaken for the colons between written as `%HEX;`.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It can be asked again.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed.
    pub async fn in_doubt(&self, limit: usize) -> Result<Vec<Doubt>, StoreError> {
        match &self.ward.once {
            Once::Local(once) => {
                let doubt = |(key, fence, since): (String, _, _)| {
                    Key::new(key).ok().map(|key| Doubt { key, fence, since })
                };
                let mut doubts: Vec<Doubt> = once.in_doubt().into_iter().filter_map(doubt).collect();
                doubts.sort_unstable_by(|one, other| one.key.cmp(&other.key));
                doubts.truncate(limit);
                Ok(doubts)
            }
            Once::Shared(_) => {
                let Some(doubts) = self.doubts() else { return Ok(Vec::new()) };
                let of_policy = joined("once", &[&self.ward.terms.name]);
                let mut found = doubts.list(&format!("{of_policy}:"), None, limit).await?;
                // A key that is too long for a store is folded, and the policy's name with it.
                let room = limit - found.len();
                found.extend(doubts.list("once:#", None, room).await?);
                Ok(found)
            }
        }
    }

    /// Settles a call that is in doubt, by somebody who found out what became of it; `false` if it was settled otherwise, or is forgotten.
    /// An answer is what [`Answer::to_stored`](super::Answer::to_stored) makes of it.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. It can be asked again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it is settled or not, and can be settled again the same way.
    pub async fn settle(&self, doubt: &Doubt, resolution: &Resolution) -> Result<bool, StoreError> {
        match (&self.ward.once, self.doubts()) {
            (Once::Shared(_), Some(doubts)) => doubts.settle(doubt, resolution).await,
            (Once::Local(once), _) => {
                let (ending, keep) = resolution.ending(self.ward.terms.keep);
                Ok(once.settle_for(doubt.key.as_str(), doubt.fence, ending, keep))
            }
            (Once::Shared(_), None) => Ok(false),
        }
    }

    fn doubts(&self) -> Option<Doubts> {
        let store = self.ward.terms.store.as_ref()?;
        Some(Doubts::new(Arc::clone(store)).keep(self.ward.terms.keep))
    }
}

//! What an entry depends on, as a hash.

use sha2::{Digest, Sha256};

/// The form of the entries. A release that writes another form counts it up.
const FORMAT: u32 = 1;

/// A key under way: everything that is added counts, and so does where one thing ends and the next begins.
#[derive(Clone)]
pub(crate) struct Key(Sha256);

impl Key {
    pub(super) fn new(version: &str) -> Self {
        let mut key = Self(Sha256::new());
        key.0.update(FORMAT.to_le_bytes());
        key.add(version);
        key
    }

    /// Adds something that the entry depends on.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// Adds a list, its length first.
    pub(crate) fn add_all<'t>(&mut self, pairs: impl ExactSizeIterator<Item = (&'t str, &'t str)>) {
        self.0.update((pairs.len() as u64).to_le_bytes());
        for (one, other) in pairs {
            self.add(one);
            self.add(other);
        }
    }

    /// The name of the entry.
    pub(super) fn name(&self) -> String {
        let hash = self.0.clone().finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

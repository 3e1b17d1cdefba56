//! What an earlier scan has found out, kept in the user's cache folder.
//!
//! An entry is named by a hash over everything that its content depends on: this program, what it knows of libraries, and the files. So an
//! entry never goes out of date, it is only no longer asked for. Nothing is kept in the scanned tree or read from it, the folder may be
//! deleted at any time, and an entry that is damaged, of another version or made up counts as none.
//!
//! What is not kept: intermediate forms of single files. A scan after a change lowers, links, inlines and runs the rules anew
//! (`docs/decisions/0071`).

mod key;
mod store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Serialize, de::DeserializeOwned};

pub(crate) use self::key::Key;

/// Where results are kept, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// The folder. It is made when something is kept, and is nobody else's.
    pub folder: PathBuf,
    /// What tells this program from every other version of it.
    pub version: String,
}

impl Cache {
    /// The cache, unless its folder lies in the tree that is scanned: whoever wrote the tree must not have a say in its result.
    pub(crate) fn outside(&self, root: &Path) -> Option<&Self> {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // A folder that is not there yet is judged by the nearest one above it that is.
        let there = self.folder.ancestors().find(|folder| folder.exists())?;
        (!whole(there).starts_with(whole(root))).then_some(self)
    }

    /// A key that nothing but this version of the program asks for.
    pub(crate) fn key(&self) -> Key {
        Key::new(&self.version)
    }

    /// What is kept under a key, if it is whole.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        store::read(&self.folder, &key.name())
    }

    /// Keeps something. A cache that cannot be written to is no failure: the next scan takes as long as this one.
    pub(crate) fn put<T: Serialize>(&self, key: &Key, content: &T) {
        store::write(&self.folder, &key.name(), content);
    }
}

//! Changed texts put in their places.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::Fix;
use crate::write::{WriteError, replace};

/// Why a file was not changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// It cannot be read any more.
    #[error("failed to read `{}`", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Somebody else changed it since it was scanned.
    #[error("`{}` changed during the scan, so it is left as it is; scan again", .0.display())]
    Changed(PathBuf),
    /// Its bytes are no UTF-8: it says itself in which coding they are.
    #[error("`{}` is not in UTF-8, so it is left as it is", .0.display())]
    Coding(PathBuf),
    /// A link leads out of the tree.
    #[error("`{}` lies outside the scanned tree, so it is left as it is", .0.display())]
    Outside(PathBuf),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What some editors put in front of a text; it is no part of what is scanned.
const MARK: &str = "\u{feff}";

impl Fix {
    /// Writes the changed text. `root` is the scanned root.
    ///
    /// # Errors
    ///
    /// When the file is not the one that was scanned, lies outside the root, or cannot be written.
    pub fn apply(&self, root: &Path) -> Result<(), ApplyError> {
        let path = root.join(&self.file);
        let read = |source| ApplyError::Read { path: path.clone(), source };
        let real = path.canonicalize().map_err(read)?;
        if !real.starts_with(root.canonicalize().map_err(read)?) {
            return Err(ApplyError::Outside(path));
        }
        let now = fs::read(&real).map_err(read)?;
        let marked = now.strip_prefix(MARK.as_bytes());
        // The scanned text may or may not have kept the mark.
        if now == self.before.as_bytes() {
            replace(&real, self.after.as_bytes())?;
        } else if marked == Some(self.before.as_bytes()) {
            replace(&real, format!("{MARK}{}", self.after).as_bytes())?;
        } else if std::str::from_utf8(&now).is_err() {
            return Err(ApplyError::Coding(path));
        } else {
            return Err(ApplyError::Changed(path));
        }
        Ok(())
    }
}

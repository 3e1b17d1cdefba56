//! Changes that happen only if the content is still the one that the caller has seen.

use std::{fs::File, os::unix::fs::MetadataExt, path::Path};

use rustix::{
    fs::{AtFlags, Mode, OFlags, openat, unlinkat},
    io::Errno,
};

use super::{
    ContentHash, Files, FilesError,
    name::Name,
    read::{CAREFULLY, regular},
    root::Folder,
    write::permissions,
};

/// What a file is, for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// There is no such file.
    Absent,
    /// It has the content with this hash.
    Is(ContentHash),
}

/// What became of a [`compare_and_swap`](Files::compare_and_swap).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it says whether the file was changed"]
pub enum Swap {
    /// The file was as expected and has the new content.
    Done {
        /// Of the new content.
        hash: ContentHash,
    },
    /// The file was not as expected and is unchanged.
    Conflict {
        /// What it was.
        found: State,
    },
}

/// What became of a [`delete_if`](Files::delete_if).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it says whether the file was deleted"]
pub enum Deletion {
    /// The file was as expected and is gone.
    Done,
    /// The file was not as expected and is unchanged.
    Conflict {
        /// What it was.
        found: State,
    },
}

/// A file that is there.
struct Found {
    hash: ContentHash,
    mode: Mode,
}

impl Files {
    /// Gives a file new content if it is as expected: has the content that the caller has seen, or is not there.
    ///
    /// Of several callers with one expectation, in all processes that use this library, one succeeds and the others learn what
    /// they found. Programs that write to the root in other ways are not kept out.
    ///
    /// # Errors
    ///
    /// [`FilesError`], and the file is as it was, except with [`FilesError::NotDurable`].
    pub fn compare_and_swap(
        &self,
        path: impl AsRef<Path>,
        expected: State,
        new: &[u8],
    ) -> Result<Swap, FilesError> {
        let name = Name::parse(path.as_ref())?;
        let folder = match (self.folder_if_any(name)?, expected) {
            (Some(folder), _) => folder,
            (None, State::Absent) => return Err(FilesError::NoFolder { path: name.to_path_buf() }),
            (None, State::Is(_)) => return Ok(Swap::Conflict { found: State::Absent }),
        };
        // Held from the comparison to the rename. Those who wait for it will mostly find a conflict, and have then written nothing.
        let lock = self.lock(name)?;
        let found = look(&folder, name)?;
        if State::of(found.as_ref()) != expected {
            return Ok(Swap::Conflict { found: State::of(found.as_ref()) });
        }
        let mode = found.as_ref().map_or(self.mode, |found| found.mode);
        let temp = self.temp(&folder, name, mode, new)?;
        if found.is_some() {
            temp.rename_over(name.last).map_err(name.failed("replace"))?;
        } else if !temp.rename_new(name.last).map_err(name.failed("create"))? {
            // `create_new` takes no lock, because its rename decides by itself, like this one.
            return Ok(Swap::Conflict { found: State::of(look(&folder, name)?.as_ref()) });
        }
        drop(lock);
        folder.flush(name)?;
        Ok(Swap::Done { hash: ContentHash::of(new) })
    }

    /// Deletes a file if it has the content that the caller has seen.
    ///
    /// # Errors
    ///
    /// [`FilesError`], and the file is as it was, except with [`FilesError::NotDurable`].
    pub fn delete_if(&self, path: impl AsRef<Path>, expected: ContentHash) -> Result<Deletion, FilesError> {
        let name = Name::parse(path.as_ref())?;
        let Some(folder) = self.folder_if_any(name)? else {
            return Ok(Deletion::Conflict { found: State::Absent });
        };
        let lock = self.lock(name)?;
        let found = State::of(look(&folder, name)?.as_ref());
        if found != State::Is(expected) {
            return Ok(Deletion::Conflict { found });
        }
        unlinkat(&folder, name.last, AtFlags::empty()).map_err(name.failed("delete"))?;
        drop(lock);
        folder.flush(name)?;
        Ok(Deletion::Done)
    }
}

impl State {
    fn of(found: Option<&Found>) -> Self {
        found.map_or(Self::Absent, |found| Self::Is(found.hash))
    }
}

impl From<ContentHash> for State {
    fn from(hash: ContentHash) -> Self {
        Self::Is(hash)
    }
}

fn look(folder: &Folder<'_>, name: Name<'_>) -> Result<Option<Found>, FilesError> {
    let file = match openat(folder, name.last, OFlags::RDONLY | CAREFULLY, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(name.failed("open")(errno)),
    };
    let mode = permissions(regular(&file, name)?.mode());
    let hash = ContentHash::of_all(file).map_err(name.io_failed("read"))?;
    Ok(Some(Found { hash, mode }))
}

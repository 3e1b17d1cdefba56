//! Reading: whole contents with their hash, and what is in a folder.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read,
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::{
    fs::{Dir, FileType, OFlags},
    io::Errno,
};

use super::{
    ContentHash, Files, FilesError,
    instance::{is_ours_or_dots, kind_of},
    name::Name,
    root::resolve,
};

/// How a file is opened that may turn out to be something else: a pipe must not block, a terminal must not become ours.
pub(super) const CAREFULLY: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The content of a file, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// All of it.
    pub bytes: Vec<u8>,
    /// What stands for it in a comparison.
    pub hash: ContentHash,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name in the folder.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

/// What is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a device: nothing that the operations here would touch.
    Other,
}

impl Files {
    /// The content of a file and its hash, or `None` if there is no such file.
    ///
    /// It is the content of one moment, except that of a record that is being appended a part may be seen.
    ///
    /// # Errors
    ///
    /// [`FilesError::TooLarge`] if it has more than `limit` bytes; else [`FilesError`].
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> Result<Option<Content>, FilesError> {
        let name = Name::parse(path.as_ref())?;
        let too_large = || FilesError::TooLarge { path: name.to_path_buf(), limit };
        let file = match resolve(self.shared.root.as_fd(), name.path, OFlags::RDONLY | CAREFULLY) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(name.failed("open")(errno)),
        };
        let length = regular(&file, name)?.len();
        if length > limit {
            return Err(too_large());
        }
        // One byte beyond the limit, because the file may be growing; and room for one beyond the length, so that the end is
        // found without growing the vector.
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(name.io_failed("read"))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
            return Err(too_large());
        }
        let hash = ContentHash::of(&bytes);
        Ok(Some(Content { bytes, hash }))
    }

    /// What is in a folder, in the order of names, ours left out; `.` is the root. Not of one moment: what comes or goes meanwhile
    /// may be there or not.
    ///
    /// # Errors
    ///
    /// [`FilesError::NoFolder`] if there is no such folder; else [`FilesError`].
    pub fn list(&self, folder: impl AsRef<Path>) -> Result<Vec<Entry>, FilesError> {
        let path = folder.as_ref();
        if path.as_os_str() != "." {
            Name::parse(path)?;
        }
        let failed = |errno| match errno {
            Errno::NOENT => FilesError::NoFolder { path: path.to_owned() },
            errno => FilesError::of("list", path, errno),
        };
        let folder =
            resolve(self.shared.root.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if is_ours_or_dots(name.as_bytes()) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => kind_of(folder.as_fd(), name),
                known => Some(known),
            };
            // None is gone again.
            if let Some(kind) = kind {
                entries.push(Entry { name: name.to_owned(), kind: kind.into() });
            }
        }
        entries.sort();
        Ok(entries)
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            _ => Self::Other,
        }
    }
}

/// What the file system says of an open file, which must be a regular one.
pub(super) fn regular(file: &File, name: Name<'_>) -> Result<std::fs::Metadata, FilesError> {
    let metadata = file.metadata().map_err(name.io_failed("look at"))?;
    if !metadata.is_file() {
        return Err(FilesError::NotAFile { path: name.to_path_buf() });
    }
    Ok(metadata)
}

//! Writing without a condition: a new file, a replaced one, a longer one.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fchmod, ftruncate, openat, statat, tell, unlinkat},
    io::{Errno, retry_on_intr, write},
};

use super::{
    Files, FilesError,
    lock::Lock,
    name::Name,
    read::{CAREFULLY, regular},
    root::Folder,
    temp::Temp,
};

/// What became of a [`create_new`](Files::create_new).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it says whether the file was made"]
pub enum Created {
    /// The file is new and has this content.
    New,
    /// Something of that name was there, and is unchanged.
    Exists,
}

impl Files {
    /// Makes a file that does not exist yet. It appears with all of its content, or not at all; of several callers one makes it.
    ///
    /// # Errors
    ///
    /// [`FilesError`], and there is no new file, except with [`FilesError::NotDurable`].
    pub fn create_new(&self, path: impl AsRef<Path>, content: &[u8]) -> Result<Created, FilesError> {
        let name = Name::parse(path.as_ref())?;
        let folder = self.folder(name)?;
        // Only spares the writing. What decides is the rename.
        if statat(&folder, name.last, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Ok(Created::Exists);
        }
        let temp = self.temp(&folder, name, self.mode, content)?;
        if !temp.rename_new(name.last).map_err(name.failed("create"))? {
            return Ok(Created::Exists);
        }
        folder.flush(name)?;
        Ok(Created::New)
    }

    /// Gives a file this content, whatever it had, and makes it if it was not there.
    ///
    /// For content that was made from what the file had before, use [`compare_and_swap`](Files::compare_and_swap).
    ///
    /// # Errors
    ///
    /// [`FilesError`], and the file is as it was, except with [`FilesError::NotDurable`].
    pub fn replace(&self, path: impl AsRef<Path>, content: &[u8]) -> Result<(), FilesError> {
        let name = Name::parse(path.as_ref())?;
        let folder = self.folder(name)?;
        let mode = mode_to_keep(&folder, name)?.unwrap_or(self.mode);
        let temp = self.temp(&folder, name, mode, content)?;
        // Held for the rename only: nobody else's compare-and-swap may be between its comparison and its own rename.
        let lock = self.lock(name)?;
        temp.rename_over(name.last).map_err(name.failed("replace"))?;
        drop(lock);
        folder.flush(name)
    }

    /// Adds to the end of a file, by one write, and makes the file if it was not there.
    ///
    /// Records of several callers and processes do not mix. A record that does not fit on the disk is taken back; only when the
    /// process or the machine ends during the write may a part of it stay.
    ///
    /// # Errors
    ///
    /// [`FilesError`], and nothing was added, except with [`FilesError::NotDurable`].
    pub fn append(&self, path: impl AsRef<Path>, record: &[u8]) -> Result<(), FilesError> {
        let name = Name::parse(path.as_ref())?;
        let folder = self.folder(name)?;
        let lock = self.lock(name)?;
        let (file, is_new) = self.open_to_append(&folder, name).map_err(name.failed("open"))?;
        regular(&file, name)?;
        if let Err(errno) = append_whole(&file, record) {
            if is_new {
                // It failed to get its first record; if this fails too, an empty file stays.
                let _ = unlinkat(&folder, name.last, AtFlags::empty());
            }
            return Err(name.failed("append to")(errno));
        }
        drop(lock);
        file.sync_data().map_err(|source| FilesError::NotDurable { path: name.to_path_buf(), source })?;
        if is_new { folder.flush(name) } else { Ok(()) }
    }

    fn open_to_append(&self, folder: &Folder<'_>, name: Name<'_>) -> Result<(File, bool), Errno> {
        let flags = OFlags::WRONLY | OFlags::APPEND | CAREFULLY;
        match openat(folder, name.last, flags, Mode::empty()) {
            Ok(file) => Ok((File::from(file), false)),
            Err(Errno::NOENT) => {
                let file = openat(folder, name.last, flags | OFlags::CREATE, Mode::RUSR | Mode::WUSR)?;
                fchmod(&file, self.mode)?;
                Ok((File::from(file), true))
            }
            Err(errno) => Err(errno),
        }
    }

    /// A temporary file with this content beside the one of that name.
    pub(super) fn temp<'a>(
        &self,
        folder: &'a Folder<'_>,
        name: Name<'_>,
        mode: Mode,
        content: &[u8],
    ) -> Result<Temp<'a>, FilesError> {
        let temp = Temp::write(folder, &self.shared.instance, mode, |file| file.write_all(content));
        temp.map_err(name.io_failed("write"))
    }

    pub(super) fn lock(&self, name: Name<'_>) -> Result<Lock<'_>, FilesError> {
        self.shared.locks.lock(name.path).map_err(name.failed("lock"))
    }
}

/// The permission bits of the file that is about to be replaced. Refuses to replace anything but a file.
fn mode_to_keep(folder: &Folder<'_>, name: Name<'_>) -> Result<Option<Mode>, FilesError> {
    let stat = match statat(folder, name.last, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(name.failed("look at")(errno)),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Some(permissions(stat.st_mode))),
        FileType::Symlink => Err(FilesError::Link { path: name.to_path_buf() }),
        _ => Err(FilesError::NotAFile { path: name.to_path_buf() }),
    }
}

/// The permission bits of a mode, without set-user-id and its like.
pub(super) fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o777)
}

/// One write of all, or nothing.
fn append_whole(file: &File, record: &[u8]) -> Result<(), Errno> {
    let written = retry_on_intr(|| write(file, record))?;
    if written == record.len() {
        return Ok(());
    }
    // The disk is full, or the record larger than one write can be. The lock keeps other appenders away; if some other program
    // added something, that is not ours to cut off.
    let end = tell(file)?;
    let metadata = file.metadata().map_err(|error| errno_of(&error))?;
    if metadata.len() == end {
        ftruncate(file, end.saturating_sub(written as u64))?;
    }
    Err(Errno::NOSPC)
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

//! Who is using a root, so that the temporary files of a process that was killed can be told from those of one at work.
//!
//! Each opening of a root has an id and a file of that name, which it holds locked. Temporary files bear the id. When the process
//! ends, however it ends, the lock is gone: whoever can lock the file of another id knows that nobody will finish its temporary
//! files. An orderly end removes the file, so that in general there is nothing to find.

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use super::{name::OURS, root::resolve};

/// This opening of the root.
pub(super) struct Instance {
    /// Where the files of all openings are.
    processes: OwnedFd,
    id: String,
    /// Locked as long as this lives.
    _file: OwnedFd,
}

impl Instance {
    /// Enters ourselves, and then cleans up after those that are gone.
    pub(super) fn start(root: BorrowedFd<'_>, processes: OwnedFd) -> io::Result<Self> {
        let (id, file) = loop {
            let id = random()?;
            if let Some(file) = enter(&processes, &id)? {
                break (id, file);
            }
        };
        let instance = Self { processes, id, _file: file };
        // What cannot be removed now is left to the next start: it takes up room, and nothing worse.
        let _ = instance.clean_up(root);
        Ok(instance)
    }

    /// A name for a temporary file that nobody can guess.
    pub(super) fn temp_name(&self) -> io::Result<String> {
        Ok(format!(".interlock-{}-{}", self.id, random()?))
    }

    fn clean_up(&self, root: BorrowedFd<'_>) -> io::Result<()> {
        let gone = self.gone()?;
        if gone.is_empty() {
            return Ok(());
        }
        remove_temps(root, |id| gone.iter().any(|(gone, _)| gone.as_bytes() == id))?;
        // Last, so that if we are killed ourselves the next one starts again.
        for (id, _locked) in gone {
            let _ = unlinkat(&self.processes, id, AtFlags::empty());
        }
        Ok(())
    }

    /// The ids of those that are gone, each with the lock of its file, so that only one of us cleans up after it.
    fn gone(&self) -> io::Result<Vec<(String, OwnedFd)>> {
        let mut gone = Vec::new();
        for entry in Dir::read_from(&self.processes)? {
            let entry = entry?;
            let Ok(id) = entry.file_name().to_str() else { continue };
            if id == self.id || !is_id(id.as_bytes()) {
                continue;
            }
            let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(file) = openat(&self.processes, id, flags, Mode::empty()) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                gone.push((id.to_owned(), file));
            }
        }
        Ok(gone)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = unlinkat(&self.processes, &self.id, AtFlags::empty());
    }
}

/// Makes and locks the file of an id. None if somebody took it, before it was locked, for the file of one that is gone.
fn enter(processes: &OwnedFd, id: &str) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(processes, id, flags, Mode::RUSR | Mode::WUSR)?;
    retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
    match statat(processes, id, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) if named.st_ino == fstat(&file)?.st_ino => Ok(Some(file)),
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Removes the temporary files of certain ids in the whole tree. Folders that cannot be looked into are passed over: either they
/// are gone, or no file of ours can be there.
fn remove_temps(root: BorrowedFd<'_>, of: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    let mut folders = vec![PathBuf::from(".")];
    while let Some(path) = folders.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = match resolve(root, &path, flags) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::NAMETOOLONG) => continue,
            Err(errno) => return Err(errno.into()),
        };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if let Some(id) = id_of_temp(name.as_bytes()) {
                if of(id) {
                    remove(&folder, name)?;
                }
            } else if !is_ours_or_dots(name.as_bytes()) && is_folder(folder.as_fd(), name, entry.file_type())
            {
                folders.push(path.join(name));
            }
        }
    }
    Ok(())
}

fn remove(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match unlinkat(folder, Path::new(name), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Not every file system says in the listing what an entry is.
fn is_folder(folder: BorrowedFd<'_>, name: &OsStr, listed: FileType) -> bool {
    listed == FileType::Directory
        || listed == FileType::Unknown && kind_of(folder, name) == Some(FileType::Directory)
}

/// What an entry of a folder is, a link not followed.
pub(super) fn kind_of(folder: BorrowedFd<'_>, name: &OsStr) -> Option<FileType> {
    let stat = statat(folder, Path::new(name), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

/// Whether an entry of a folder is the folder itself, the one above it, or ours.
pub(super) fn is_ours_or_dots(name: &[u8]) -> bool {
    matches!(name, b"." | b"..") || name.starts_with(OURS)
}

/// The id in the name of a temporary file.
fn id_of_temp(name: &[u8]) -> Option<&[u8]> {
    let (id, rest) = name.strip_prefix(b".interlock-")?.split_at_checked(ID)?;
    let random = rest.strip_prefix(b"-")?;
    (is_id(id) && is_id(random)).then_some(id)
}

/// How long an id is.
const ID: usize = 32;

fn is_id(name: &[u8]) -> bool {
    name.len() == ID && name.iter().all(u8::is_ascii_hexdigit)
}

fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

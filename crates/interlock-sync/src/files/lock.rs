//! Locks between processes, and between the threads of one.

use std::{
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, openat},
    io::{Errno, retry_on_intr},
};

use super::ContentHash;

/// How many lock files there are. Paths are spread over them by their hash, so two paths may share one and wait for each other
/// in vain, but the files need never be made or removed with the paths. All processes on a root must agree on this number.
const LOCKS: usize = 64;

/// The lock files of a root.
pub(super) struct Locks {
    folder: OwnedFd,
    /// Opened when they are first needed. A `flock` belongs to the open file, which all threads share, so the mutex is what keeps
    /// the threads apart.
    files: Vec<Mutex<Option<OwnedFd>>>,
}

/// A lock that is held, until this is dropped or the process ends.
pub(super) struct Lock<'a>(MutexGuard<'a, Option<OwnedFd>>);

impl Locks {
    pub(super) fn new(folder: OwnedFd) -> Self {
        Self { folder, files: (0..LOCKS).map(|_| Mutex::default()).collect() }
    }

    /// Waits for the lock of a path.
    pub(super) fn lock(&self, path: &Path) -> Result<Lock<'_>, Errno> {
        let index = index_of(path.as_os_str());
        let Some(file) = self.files.get(index) else { return Err(Errno::INVAL) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match file.take() {
            Some(opened) => opened,
            None => self.open(index)?,
        };
        let opened = file.insert(opened);
        retry_on_intr(|| flock(&*opened, FlockOperation::LockExclusive))?;
        Ok(Lock(file))
    }

    fn open(&self, index: usize) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.folder, format!("{index:02x}"), flags, Mode::RUSR | Mode::WUSR)
    }
}

fn index_of(path: &OsStr) -> usize {
    let [first, ..] = *ContentHash::of(path.as_bytes()).as_bytes();
    usize::from(first) % LOCKS
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        let unlocked = self.0.as_ref().map(|file| flock(file, FlockOperation::Unlock));
        if !matches!(unlocked, Some(Ok(()))) {
            // It cannot fail for an open file; if it does, closing the file also gives the lock back.
            *self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_lock_a_path_has_is_the_same_in_every_version() {
        let paths = ["a", "b", "report.md", "a/b/c"];
        assert_eq!(paths.map(|path| index_of(OsStr::new(path))), [10, 62, 34, 23]);
    }
}

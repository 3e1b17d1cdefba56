//! The root of a tree of files, and how a path below it is resolved.

use std::{
    fmt,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::Arc,
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fsync, mkdirat, openat, openat2},
    io::Errno,
};

use super::{FilesError, instance::Instance, lock::Locks, name::Name};

/// How often a resolution is tried that the kernel could not do safely because of a rename elsewhere.
const TRIES: usize = 128;

/// How a directory is opened: for reading, because only then can it be flushed.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Files under a root. Clones are the same root.
///
/// The methods block; [`AsyncFiles`](super::AsyncFiles) runs them in the background. What they guarantee is said in the
/// [module](super).
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// use interlock_sync::files::{Created, Files, State, Swap};
///
/// let files = Files::open(root)?;
/// assert_eq!(files.create_new("report.md", b"draft")?, Created::New);
/// assert_eq!(files.create_new("report.md", b"mine")?, Created::Exists);
///
/// let read = files.read("report.md", 1 << 20)?.ok_or("gone")?;
/// let swap = files.compare_and_swap("report.md", State::Is(read.hash), b"final")?;
/// assert!(matches!(swap, Swap::Done { .. }));
///
/// // Somebody who still has the draft is told so, and changes nothing.
/// let swap = files.compare_and_swap("report.md", State::Is(read.hash), b"late")?;
/// assert!(matches!(swap, Swap::Conflict { found: State::Is(_) }));
///
/// assert!(files.read("../secret", 1 << 20).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Files {
    pub(super) shared: Arc<Shared>,
    /// Of new files.
    pub(super) mode: Mode,
}

pub(super) struct Shared {
    pub(super) root: OwnedFd,
    pub(super) locks: Locks,
    pub(super) instance: Instance,
}

/// The folder of a file, opened: the root itself, or one below it.
pub(super) enum Folder<'a> {
    Root(BorrowedFd<'a>),
    Below(OwnedFd),
}

impl Files {
    /// Opens a root, and removes what processes that were killed have left there.
    ///
    /// The root must exist. It may be reached over links; only what is below it may not. A folder `.interlock` is made in it, for
    /// locks, and must be left alone. If another process was killed while it had the root open, its temporary files are looked for
    /// in the whole tree; otherwise the tree is not walked.
    ///
    /// # Errors
    ///
    /// [`FilesError::Unsupported`] if the kernel has no `openat2`; [`FilesError::Io`] if the root cannot be opened or written to.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, FilesError> {
        let path = root.as_ref();
        let failed = |errno| FilesError::of("open the root", path, errno);
        let root = openat(CWD, path, DIRECTORY, Mode::empty()).map_err(failed)?;
        probe(&root)?;
        let ours = own_folder(root.as_fd(), ".interlock").map_err(failed)?;
        let locks = Locks::new(own_folder(ours.as_fd(), "locks").map_err(failed)?);
        let processes = own_folder(ours.as_fd(), "processes").map_err(failed)?;
        let instance = Instance::start(root.as_fd(), processes)
            .map_err(|error| FilesError::of_io("open the root", path, error))?;
        Ok(Self { shared: Arc::new(Shared { root, locks, instance }), mode: Mode::RUSR | Mode::WUSR })
    }

    /// The same root, with other permission bits for files that do not exist yet. Set-user-id and its like are left out.
    #[must_use]
    pub fn with_mode(self, mode: u32) -> Self {
        Self { mode: Mode::from_raw_mode(mode & 0o777), ..self }
    }

    /// Makes a folder, with mode `0700`, and those on the way to it. What exists already is left as it is.
    ///
    /// # Errors
    ///
    /// [`FilesError`]; folders on the way may have been made.
    pub fn make_folder(&self, path: impl AsRef<Path>) -> Result<(), FilesError> {
        let name = Name::parse(path.as_ref())?;
        for step in name.steps() {
            let step = Name::parse(step)?;
            let folder = self.folder(step)?;
            match mkdirat(&folder, step.last, Mode::RWXU) {
                Ok(()) => folder.flush(step)?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(step.failed("make the folder")(errno)),
            }
        }
        // What was there already may be a file or a link.
        resolve(self.shared.root.as_fd(), name.path, DIRECTORY).map_err(name.failed("make the folder"))?;
        Ok(())
    }

    /// The folder in which the file is, or would be.
    pub(super) fn folder(&self, name: Name<'_>) -> Result<Folder<'_>, FilesError> {
        self.folder_if_any(name)?.ok_or_else(|| FilesError::NoFolder { path: name.to_path_buf() })
    }

    /// The same, for operations that make sense without one.
    pub(super) fn folder_if_any(&self, name: Name<'_>) -> Result<Option<Folder<'_>>, FilesError> {
        let root = self.shared.root.as_fd();
        let Some(folder) = name.folder else { return Ok(Some(Folder::Root(root))) };
        match resolve(root, folder, DIRECTORY) {
            Ok(folder) => Ok(Some(Folder::Below(folder))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(name.failed("open the folder of")(errno)),
        }
    }
}

impl Folder<'_> {
    /// Makes what was renamed, made or removed in this folder survive a power failure. It has happened already, so a failure says
    /// just that.
    pub(super) fn flush(&self, name: Name<'_>) -> Result<(), FilesError> {
        match fsync(self) {
            // Some file systems have nothing to flush in a directory.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(FilesError::NotDurable { path: name.to_path_buf(), source: errno.into() }),
        }
    }
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(root) => *root,
            Self::Below(folder) => folder.as_fd(),
        }
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("root", &self.shared.root).field("mode", &self.mode).finish()
    }
}

/// Opens a path below a folder, over no link at all. Whoever swaps folders for links meanwhile gets a refusal, not another file.
pub(super) fn resolve(below: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(below, path, flags | OFlags::CLOEXEC, Mode::empty(), how);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

/// Asks for something that can only fail if `openat2` is missing, or kept away by a sandbox, which says "not permitted".
fn probe(root: &OwnedFd) -> Result<(), FilesError> {
    match resolve(root.as_fd(), Path::new("."), OFlags::PATH | OFlags::DIRECTORY) {
        Err(errno @ (Errno::NOSYS | Errno::PERM)) => Err(FilesError::Unsupported { source: errno.into() }),
        _ => Ok(()),
    }
}

/// Opens a folder of our own, and makes it first if need be.
fn own_folder(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    match mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => resolve(parent, Path::new(name), DIRECTORY),
        Err(errno) => Err(errno),
    }
}

//! Why an operation on files has no answer. The kernel's codes fold to the few kinds that a caller can act on.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use super::{BadName, name::Name};

/// Why an operation on files has no answer. Unless a variant says otherwise, nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The path names no file here, whatever is on the disk.
    #[error("{} cannot name a file here: {why}", Shown(path))]
    BadName {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: BadName,
    },
    /// The path is a symbolic link or leads over one.
    #[error("{} is a symbolic link or leads over one, and none is followed", Shown(path))]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// The path leads out of the root.
    #[error("{} leads out of the root", Shown(path))]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// There is something else than a regular file.
    #[error("{} is not a regular file", Shown(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The folder that should hold the file, or be listed, does not exist.
    #[error("{} has no folder to be in", Shown(path))]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than the reader allows.
    #[error("{} is larger than {limit} bytes", Shown(path))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit that was given.
        limit: u64,
    },
    /// The change has happened and everybody sees it, but it may not survive a power failure.
    #[error("{} was changed, but the change could not be flushed to the disk", Shown(path))]
    NotDurable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The kernel cannot confine paths. Nothing less than `openat2` keeps a link from being swapped in, so nothing less is used.
    #[error(
        "no confined files on this system: `openat2` is missing (Linux has it since 5.6) or forbidden by a sandbox"
    )]
    Unsupported {
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The runtime ended before the operation began.
    #[error("the runtime is shutting down")]
    ShuttingDown,
    /// The system refused for another reason: no room, no permission, a broken disk.
    #[error("failed to {doing} {}", Shown(path))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl FilesError {
    /// Folds the code of a system call that was made to do something with this path.
    pub(super) fn of(doing: &'static str, path: &Path, errno: Errno) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::LOOP => Self::Link { path },
            Errno::XDEV => Self::Outside { path },
            // A pipe without a reader, a device without a driver.
            Errno::ISDIR | Errno::NXIO => Self::NotAFile { path },
            Errno::NOTDIR => Self::NoFolder { path },
            Errno::NAMETOOLONG => Self::BadName { path, why: BadName::TooLong },
            Errno::NOSYS => Self::Unsupported { source: errno.into() },
            _ => Self::Io { doing, path, source: errno.into() },
        }
    }

    /// The same for an error of the standard library.
    pub(super) fn of_io(doing: &'static str, path: &Path, error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => Self::of(doing, path, errno),
            None => Self::Io { doing, path: path.to_owned(), source: error },
        }
    }
}

impl Name<'_> {
    /// Makes an error of the code of a system call, for `map_err`.
    pub(super) fn failed(self, doing: &'static str) -> impl Fn(Errno) -> FilesError {
        move |errno| FilesError::of(doing, self.path, errno)
    }

    /// Makes an error of one of the standard library, for `map_err`.
    pub(super) fn io_failed(self, doing: &'static str) -> impl Fn(io::Error) -> FilesError {
        move |error| FilesError::of_io(doing, self.path, error)
    }
}

/// A path in quotes, of a length that fits a message.
struct Shown<'a>(&'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 100;
        let text = self.0.to_string_lossy();
        let start: String = text.chars().take(LONGEST).collect();
        let cut = start.len() < text.len();
        // The debug form keeps control characters out of logs and terminals.
        write!(f, "{start:?}{}", if cut { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_openat2_is_named_as_the_reason() {
        let error = FilesError::of("open", Path::new("a"), Errno::NOSYS);
        assert!(matches!(error, FilesError::Unsupported { .. }));
        assert!(error.to_string().contains("openat2"));
    }

    #[test]
    fn a_message_shows_no_control_characters_and_is_never_long() {
        let why = BadName::TooLong;
        let error = FilesError::BadName { path: PathBuf::from("a\u{1b}[2J".repeat(10_000)), why };
        let message = error.to_string();
        assert!(message.len() < 1000 && !message.contains('\u{1b}'), "{message}");
        assert!(message.ends_with("\"… cannot name a file here: it is too long"), "{message}");
    }
}

//! Files under a root: whole or not there at all, changed by compare-and-swap, and nowhere else than under the root. Linux only.
//!
//! # Confined
//!
//! The root is opened once, as a directory. A path is relative to it and resolved by the kernel, with `openat2` and
//! `RESOLVE_BENEATH`, so that nobody can change its meaning between a check and its use. No symbolic link is followed, neither
//! out of the root nor inside it, neither in the middle of a path nor at its end, neither for reading nor for writing: then every
//! file has one name, which is also what the locks go by. A path must be plain: no `..`, no `.`, no empty piece, not absolute.
//!
//! What this cannot prevent: whoever may write to the folders of the root with other programs can move a folder out of it while it
//! is in use, mount something there, or put a file where a reader trusts it. A folder that has two names all the same (a bind
//! mount, a case-folding directory) must be used by one of them.
//!
//! # Atomic
//!
//! New content is written to a temporary file with an unpredictable name in the same folder, and appears under its name by one
//! rename. A reader sees the old content or the new, never a part. Only [`append`](Files::append) changes a file in place.
//!
//! Operations of this library that change one file exclude each other, in all processes, by `flock` on a lock file in the folder
//! `.interlock` under the root. Not on the file itself: a rename puts another file in its place, and then two processes hold the
//! lock of "the" file, one the old one's, one the new one's. A lock ends with the process that holds it, however that ends, so
//! none is ever stale; lock files are few, fixed and never removed, because a lock file that is removed has the same flaw as the
//! file itself. A process that is stopped while it holds one makes the others wait.
//!
//! # Durable
//!
//! When an operation has answered, its effect survives a power failure: the content is flushed (`fsync`) before the rename and the
//! folder after it; an appended record is flushed before the answer. What a reader sees before the writer had its answer may
//! still be lost by a power failure. [`FilesError::NotDurable`] says that a change happened but could not be flushed.
//!
//! A process that is killed may leave temporary files. Each bears the mark of its process, and the next [`Files::open`] removes
//! those of processes that are gone.
//!
//! # Attributes
//!
//! New files have mode `0600` unless [`Files::with_mode`] says otherwise, whatever the umask. A file that is replaced passes its
//! permission bits on, without set-user-id and its like; owner, extended attributes and hard links are not passed on. All
//! processes that share a root run as one user.

mod background;
mod error;
mod hash;
mod instance;
mod lock;
mod name;
mod read;
mod root;
mod swap;
mod temp;
mod write;

pub use self::{
    background::AsyncFiles,
    error::FilesError,
    hash::{ContentHash, InvalidHash},
    name::BadName,
    read::{Content, Entry, Kind},
    root::Files,
    swap::{Deletion, State, Swap},
    write::Created,
};

//! Which files are scanned: what stands under the given paths, less what nobody wants to hear about.
//!
//! The same tree gives the same list on every run and every machine: sorted, relative to the root, with forward slashes. Nothing is
//! left out in silence: what is, is counted or named in the notes of the coverage.

mod coding;
mod compiled;
mod foreign;
pub(crate) mod names;
pub(crate) mod notes;
mod read;
mod root;
mod tags;
mod tree;

pub(crate) use self::{
    foreign::{UnreadServer, unread_server},
    notes::Notes,
    read::{Unread, read_setting, read_source},
    root::Root,
    tree::{Tree, Wanted, walk},
};

pub use self::root::WalkError;

/// A file that is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Relative to the root, with forward slashes.
    pub(crate) path: String,
    /// Where it is on this machine.
    pub(crate) place: std::path::PathBuf,
    /// Its size when it was found.
    pub(crate) size: u64,
    /// Whether it was given by its own name, so that nothing but its size can keep it out.
    pub(crate) explicit: bool,
}

/// How much is read, whatever is there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The largest file.
    pub(crate) file: u64,
    /// The largest settings file.
    pub(crate) setting: u64,
    /// The most files.
    pub(crate) files: usize,
    /// The most bytes of all files together.
    pub(crate) total: u64,
}

/// The limits of every scan. A file of four megabytes is never written by hand, and a tree of 256 is no server.
pub(crate) const LIMITS: Limits =
    Limits { file: 4 << 20, setting: 1 << 20, files: 100_000, total: 256 << 20 };

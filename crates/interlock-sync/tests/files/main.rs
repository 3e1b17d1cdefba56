//! Files under a root as other processes see them: racing threads, other processes, killed ones, links that change meanwhile.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod background;
mod crash;
mod full;
mod links;
mod operations;
mod process;
mod races;
mod rights;

use std::{fs, path::Path};

use interlock_sync::files::{ContentHash, Files};
use tempfile::TempDir;

/// More than any file here has, unless a test is about that.
const PLENTY: u64 = 1 << 30;

/// A new root.
fn root() -> (TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::open(folder.path()).unwrap();
    (folder, files)
}

/// The content of a file that is there.
fn read(files: &Files, path: &str) -> Vec<u8> {
    files.read(path, PLENTY).unwrap().unwrap().bytes
}

/// The hash of a file that is there.
fn hash(files: &Files, path: &str) -> ContentHash {
    files.read(path, PLENTY).unwrap().unwrap().hash
}

/// The names in a folder, all of them.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

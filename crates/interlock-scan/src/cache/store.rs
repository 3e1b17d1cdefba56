//! Entries as files: a head, a checksum, and the content.

use std::{
    fs::{self, File, Metadata},
    io::Read,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::replace;

/// What every entry begins with.
const MAGIC: &[u8] = b"interlock cache\n";
/// The bytes of a checksum.
const SUM: usize = 32;
/// What is larger is neither kept nor read.
pub(super) const LARGEST: u64 = 32 << 20;
/// So many bytes are kept in all; what is beyond goes, the oldest first.
pub(super) const MOST: u64 = 256 << 20;

/// Reads an entry that is whole.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
    let file = File::open(folder.join(name)).ok()?;
    if !file.metadata().ok().is_some_and(|about| about.is_file() && about.len() <= LARGEST) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let (sum, content) = bytes.strip_prefix(MAGIC)?.split_at_checked(SUM)?;
    if sum != &*Sha256::digest(content) {
        return None;
    }
    postcard::from_bytes(content).ok()
}

/// Writes an entry, whole or not at all, and makes room where there is none.
pub(super) fn write<T: Serialize>(folder: &Path, name: &str, content: &T) {
    let Ok(content) = postcard::to_stdvec(content) else { return };
    let bytes = [MAGIC, &*Sha256::digest(&content), &content].concat();
    if bytes.len() as u64 > LARGEST || make(folder).is_err() {
        return;
    }
    if replace(&folder.join(name), &bytes).is_ok() {
        sweep(folder, MOST);
    }
}

/// Makes the folder. What it holds tells of sources, which are nobody else's business.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Removes the oldest entries until the rest is small enough. What somebody else removes meanwhile is gone as well.
pub(super) fn sweep(folder: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let about = |entry: fs::DirEntry| -> Option<(SystemTime, u64, PathBuf)> {
        let about: Metadata = entry.metadata().ok().filter(Metadata::is_file)?;
        Some((about.modified().ok()?, about.len(), entry.path()))
    };
    let mut entries: Vec<_> = entries.flatten().filter_map(about).collect();
    let mut sum: u64 = entries.iter().map(|(_, size, _)| size).sum();
    entries.sort();
    for (_, size, path) in entries {
        if sum <= most {
            break;
        }
        if fs::remove_file(path).is_ok() {
            sum = sum.saturating_sub(size);
        }
    }
}

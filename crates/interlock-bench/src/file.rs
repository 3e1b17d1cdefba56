//! Replacing a file under a root beside the system calls that no durable, atomic replacement can do without.

use std::{
    fs::{self, File},
    io::Write,
    time::Instant,
};

use anyhow::{Context, Result};
use interlock_sync::files::Files;
use rustix::fs::{Mode, OFlags, fsync, openat, renameat};

use crate::{
    row::Row,
    sample::{alone, in_turn, microseconds},
};

const ROUNDS: usize = 401;
const CONTENT: [u8; 4096] = [b'x'; 4096];

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let (ours, bare) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let files = Files::open(ours.path())?;
    files.make_folder("notes")?;
    fs::create_dir(bare.path().join("notes"))?;
    let root = File::open(bare.path())?;
    let both = alone()?.block_on(in_turn(
        ROUNDS,
        async || {
            let start = Instant::now();
            files.replace("notes/today.md", &CONTENT)?;
            Ok(microseconds(start))
        },
        async || {
            let start = Instant::now();
            replace(&root).context("the bare system calls failed")?;
            Ok(microseconds(start))
        },
    ))?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let peer = format!("open, write, fsync, rename, fsync: Linux {}", kernel.trim());
    Ok(vec![Row { what: "replace a file of 4 KiB under a root".to_owned(), both, peer, unit: "µs" }])
}

/// The folder, the new file, its content to the disk, the new name, and that to the disk.
fn replace(root: &File) -> Result<()> {
    let folder = openat(root, "notes", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat(&folder, "today.md.new", flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(&CONTENT)?;
    file.sync_all()?;
    renameat(&folder, "today.md.new", &folder, "today.md")?;
    fsync(&folder)?;
    Ok(())
}

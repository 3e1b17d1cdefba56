//! Unpacks an archive that nobody vouched for: tar, tar.gz and zip, into a fresh folder.
//!
//! Only files and folders are made, readable and not executable. Links, devices and pipes are left out, so that no name written later can
//! lead through one; a name that is absolute or goes up ends the unpacking. Size, number, depth and time are limited by what comes *out*, so
//! it does not matter how small an archive bomb is.

mod tar;
mod zip;

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use flate2::read::MultiGzDecoder;

use crate::run::{FetchError, Run};

/// How long one part of a name may be: what file systems hold.
const LONGEST_PART: usize = 255;

/// Unpacks an archive below a folder that is there and empty.
pub(crate) fn unpack(run: &Run<'_>, archive: &Path, into: &Path) -> Result<(), FetchError> {
    let mut file = File::open(archive)?;
    let mut magic = [0; 4];
    let read = read_up_to(&mut file, &mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    let mut sink = Sink { run, root: into, size: 0, files: 0 };
    match magic.get(..read).unwrap_or_default() {
        [0x1f, 0x8b, ..] => tar::unpack(MultiGzDecoder::new(io::BufReader::new(file)), &mut sink),
        [b'P', b'K', ..] => zip::unpack(&mut file, &mut sink),
        _ => tar::unpack(io::BufReader::new(file), &mut sink),
    }
}

/// The only folder in a folder that has nothing else: archives of repositories and packages wrap theirs in one.
pub(crate) fn unwrap(root: &Path) -> PathBuf {
    let mut entries = fs::read_dir(root).into_iter().flatten().flatten();
    match (entries.next(), entries.next()) {
        (Some(only), None) if only.file_type().is_ok_and(|kind| kind.is_dir()) => only.path(),
        _ => root.to_owned(),
    }
}

/// Where entries go, and how much of them there was.
struct Sink<'r> {
    run: &'r Run<'r>,
    root: &'r Path,
    size: u64,
    files: u64,
}

impl Sink<'_> {
    /// Counts an entry, whatever it is: names alone can be too many.
    fn count(&mut self) -> Result<(), FetchError> {
        self.files += 1;
        if self.files > self.run.limits.files {
            return Err(FetchError::Many(self.run.limits.files));
        }
        self.patience()
    }

    fn patience(&self) -> Result<(), FetchError> {
        if self.run.watcher.enough() {
            return Err(FetchError::Stopped);
        }
        if Instant::now().duration_since(self.run.begin) > self.run.limits.time {
            return Err(FetchError::Slow(self.run.limits.time));
        }
        Ok(())
    }

    fn folder(&mut self, name: &[u8]) -> Result<(), FetchError> {
        self.count()?;
        let path = self.place(name)?;
        fs::create_dir_all(path).map_err(|_| clash(name))
    }

    /// Writes a file, and reads `content` to its end unless it is too much.
    fn file(&mut self, name: &[u8], content: &mut dyn Read) -> Result<(), FetchError> {
        self.count()?;
        let path = self.place(name)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|_| clash(name))?;
        }
        let mut file = File::create(&path).map_err(|_| clash(name))?;
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = content.read(&mut piece).map_err(damaged)?;
            if read == 0 {
                return Ok(());
            }
            self.size = self.size.saturating_add(read as u64);
            if self.size > self.run.limits.size {
                return Err(FetchError::Large(self.run.limits.size));
            }
            self.patience()?;
            file.write_all(piece.get(..read).unwrap_or_default())?;
        }
    }

    /// Where an entry belongs, if that is below the root.
    fn place(&self, name: &[u8]) -> Result<PathBuf, FetchError> {
        let text = String::from_utf8_lossy(name);
        let outside = || FetchError::Odd(format!("the archive has a name that leads out of it: {text:?}"));
        if text.starts_with('/') || text.contains(['\0', '\\']) {
            return Err(outside());
        }
        let mut path = self.root.to_owned();
        let mut depth = 0;
        for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if part == ".." {
                return Err(outside());
            }
            if part.len() > LONGEST_PART {
                return Err(FetchError::Odd("the archive has a name that is too long".to_owned()));
            }
            depth += 1;
            if depth > self.run.limits.depth {
                return Err(FetchError::Deep(self.run.limits.depth));
            }
            path.push(part);
        }
        Ok(path)
    }
}

fn clash(name: &[u8]) -> FetchError {
    FetchError::Odd(format!("the archive has {:?} as a file and as a folder", String::from_utf8_lossy(name)))
}

fn damaged(error: io::Error) -> FetchError {
    FetchError::Odd(format!("the archive is damaged: {error}"))
}

fn read_up_to(from: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;

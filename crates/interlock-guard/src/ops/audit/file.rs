//! The file of the audit log. Whoever rotates logs moves it away; the next lines then go to a new one.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::super::{
    lines::Sink,
    text::{push_number, push_time},
};

/// A file that is appended to.
pub(super) struct AuditFile {
    path: PathBuf,
    file: Option<File>,
    /// Whether the file may end within a line.
    is_torn: bool,
}

impl AuditFile {
    /// Opens it, or makes it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), file: Some(open(path)?), is_torn: false })
    }

    /// Whether the path leads to another file by now, or to none.
    #[cfg(unix)]
    fn was_moved(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Some(Ok(ours)) = self.file.as_ref().map(File::metadata) else { return true };
        std::fs::metadata(&self.path)
            .map_or(true, |there| (there.dev(), there.ino()) != (ours.dev(), ours.ino()))
    }

    #[cfg(not(unix))]
    fn was_moved(&self) -> bool {
        self.file.is_none()
    }
}

impl Sink for AuditFile {
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.was_moved() {
            self.reopen();
        }
        let Some(file) = &mut self.file else { return Err(io::Error::from(io::ErrorKind::NotFound)) };
        if self.is_torn {
            file.write_all(b"\n")?;
        }
        self.is_torn = true;
        file.write_all(lines)?;
        self.is_torn = false;
        Ok(())
    }

    fn reopen(&mut self) {
        // A file that cannot be opened now is tried again with the next lines; until then they are dropped and counted.
        self.file = open(&self.path).ok();
        self.is_torn = false;
    }

    fn tell_dropped(&self, out: &mut Vec<u8>, dropped: u64) {
        out.extend_from_slice(b"{\"time\":\"");
        push_time(out, SystemTime::now());
        out.extend_from_slice(b"\",\"event\":\"dropped\",\"lines\":");
        push_number(out, dropped);
        out.extend_from_slice(b"}\n");
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn after_the_file_was_moved_away_the_next_lines_go_to_a_new_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("audit"), folder.path().join("audit.1"));
        let mut file = AuditFile::open(&path).unwrap();
        file.write(b"one\n").unwrap();
        std::fs::rename(&path, &moved).unwrap();
        file.write(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(moved).unwrap(), "one\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_was_there_is_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        std::fs::write(&path, "before\n").unwrap();
        AuditFile::open(&path).unwrap().write(b"after\n").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "before\nafter\n");
    }

    #[test]
    fn a_folder_that_is_gone_is_an_error_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("logs");
        std::fs::create_dir(&inner).unwrap();
        let mut file = AuditFile::open(&inner.join("audit")).unwrap();
        std::fs::remove_dir_all(&inner).unwrap();
        file.reopen();
        assert!(file.write(b"lost\n").is_err());
        std::fs::create_dir(&inner).unwrap();
        file.write(b"kept\n").unwrap();
        assert_eq!(std::fs::read_to_string(inner.join("audit")).unwrap(), "kept\n");
    }
}

//! Writing a file whole or not at all.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Why a file was not written. What was there before is still there.
#[derive(Debug, thiserror::Error)]
#[error("failed to write `{}`", .path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Puts `content` where `path` is, in one step: a reader sees the old file or the new one, and so does whoever looks after we were
/// interrupted. What is no regular file, such as a pipe, is written to as it is.
///
/// # Errors
/// If the folder is not there, or nothing can be written to it.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    write(path, content).map_err(|source| WriteError { path: path.to_owned(), source })
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let there = fs::metadata(&path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return OpenOptions::new().write(true).open(&path)?.write_all(content);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".interlock-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any other program would make it: the process's mask takes away what it likes.
        let fresh = fs::Permissions::from_mode(0o666);
        builder.permissions(fresh);
    }
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(content)?;
    if let Some(there) = there {
        temporary.as_file().set_permissions(there.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        for content in ["first", "second, which is longer", ""] {
            replace(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_the_file() {
        let error = replace(Path::new("/no/such/folder/report.json"), b"").unwrap_err();
        assert_eq!(error.to_string(), "failed to write `/no/such/folder/report.json`");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_a_mode_stays_a_mode_and_a_device_a_device() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "old").unwrap();
        fs::set_permissions(at("target"), fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        replace(&at("link"), b"new").unwrap();
        assert_eq!(fs::read_to_string(at("target")).unwrap(), "new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::metadata(at("target")).unwrap().permissions().mode() & 0o777, 0o640);
        replace(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

//! From a URL to a file that SQLite may open.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use super::connect::Problem;
use crate::OpenError;

/// Where the file is or shall be, as the URL says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place(PathBuf);

impl Place {
    /// The path behind `sqlite:`, taken literally: nothing in it is decoded. Parameters as other programs know them are refused: whoever writes
    /// `?mode=ro` does not mean a file of that name.
    pub(super) fn of_url(url: &str) -> Result<Self, OpenError> {
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        let malformed = |reason: &str| OpenError::Malformed { url: url.to_owned(), reason: reason.into() };
        if path.is_empty() {
            return Err(malformed("a path must follow `sqlite:`"));
        }
        if path == ":memory:" {
            return Err(malformed("for state in memory the URL is `memory:`"));
        }
        // Other programs mean a relative path by this; the operating system would take it for one at the root.
        if path.starts_with("//") && !path.starts_with("///") {
            return Err(malformed("the path follows `sqlite:` at once, without `//`"));
        }
        if path.rsplit_once('?').is_some_and(|(_, behind)| behind.contains('=')) {
            return Err(malformed(
                "`sqlite:` takes no parameters; what can be set is set when the store is opened",
            ));
        }
        if path.contains('\0') {
            return Err(malformed("a path has no NUL"));
        }
        Ok(Self(path.into()))
    }

    /// The absolute path, once it is sure that there is a database or can be one.
    ///
    /// Absolute, so that it stays the same file when the process changes its folder, and so that SQLite sees no special name in it.
    pub(super) fn file(&self) -> Result<PathBuf, Problem> {
        let Self(path) = self;
        let name = path.file_name().filter(|_| !ends_with_separator(path));
        let name = name.ok_or_else(|| Problem::Folder(path.clone()))?;
        let parent = path.parent().filter(|parent| *parent != OsStr::new("")).unwrap_or(Path::new("."));
        let parent = fs::canonicalize(parent)
            .and_then(
                |found| if found.is_dir() { Ok(found) } else { Err(io::ErrorKind::NotADirectory.into()) },
            )
            .map_err(|source| Problem::Parent { parent: parent.to_owned(), source })?;
        let file = parent.join(name);
        match fs::metadata(&file) {
            Ok(found) if found.is_dir() => Err(Problem::Folder(file)),
            Ok(found) if !found.is_file() || is_short(found.len(), &file) => Err(Problem::NotADatabase(file)),
            Ok(_) => Ok(file),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(file),
            Err(source) => Err(Problem::Hidden { file, source }),
        }
    }
}

/// Makes the file, if it is not there, with these permissions. SQLite gives its companions the same ones.
pub(super) fn make_private(file: &Path, mode: u32) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(0o600);
        match options.open(file) {
            // Set afterwards, because the mask of the process is for files that nobody gave a mode.
            Ok(made) => made.set_permissions(fs::Permissions::from_mode(mode & 0o777)),
            // One that cannot be made is told by SQLite, in words of its own.
            Err(_) => Ok(()),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (options, mode);
        Ok(())
    }
}

/// [`Path`] itself forgets a slash at the end, and with it that a folder was meant.
fn ends_with_separator(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.ends_with(std::path::is_separator))
}

/// Whether a file is too short to be a database. SQLite would take it for an empty one and write over it.
///
/// Unless it is one that was cut off while it was made: then the rest is in the WAL beside it.
fn is_short(bytes: u64, file: &Path) -> bool {
    let mut wal = file.as_os_str().to_owned();
    wal.push("-wal");
    (1..512).contains(&bytes) && !Path::new(&wal).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_literally() {
        for path in
            ["state.db", "./a b/state.db", "/var/lib/x.db", "///var/lib/x.db", "file:x", "what?.db", "a%20b"]
        {
            assert_eq!(Place::of_url(&format!("sqlite:{path}")).unwrap(), Place(path.into()));
        }
    }

    #[test]
    fn what_is_no_path_is_malformed_and_the_message_says_why() {
        for (url, why) in [
            ("sqlite:", "a path must follow"),
            ("sqlite::memory:", "`memory:`"),
            ("sqlite://state.db", "without `//`"),
            ("sqlite:a\0b", "NUL"),
            ("sqlite:state.db?mode=ro", "no parameters"),
            ("sqlite:file:memdb?mode=memory&cache=shared", "no parameters"),
        ] {
            let message = Place::of_url(url).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_special_name_of_sqlite_is_an_ordinary_file_to_us() {
        let file = Place::of_url("sqlite:file:memdb").unwrap().file().unwrap();
        assert!(file.is_absolute() && file.ends_with("file:memdb"), "{file:?}");
    }
}

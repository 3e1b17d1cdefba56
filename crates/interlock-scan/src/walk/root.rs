//! Where a scan stands: the folder that paths are relative to, and what was asked for in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Why there is nothing to walk.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// A path that leads nowhere.
    #[error("there is no `{}`; give a file or a folder that exists", .0.display())]
    Missing(PathBuf),
    /// A device, a socket, a pipe.
    #[error("`{}` is neither a file nor a folder", .0.display())]
    Strange(PathBuf),
    /// Something else.
    #[error("failed to look at `{}`: {}", .path.display(), .source.kind())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No path at all, or paths on different disks.
    #[error("the paths have no folder in common; scan them one by one")]
    Apart,
}

/// The folder that paths are relative to, and what was asked for in it.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The folder: the one given, that of the file given, or the one that all given have in common.
    pub(crate) folder: PathBuf,
    /// The folders to walk.
    pub(crate) folders: Vec<PathBuf>,
    /// The files that were given by name.
    pub(crate) files: Vec<PathBuf>,
}

impl Root {
    /// Looks the given paths up.
    pub(crate) fn find(paths: &[PathBuf]) -> Result<Self, WalkError> {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for given in paths {
            let path = given.canonicalize().map_err(|source| trouble(given, source))?;
            let kind = fs::metadata(&path).map_err(|source| trouble(given, source))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            } else {
                return Err(WalkError::Strange(given.clone()));
            }
        }
        let parents = files.iter().filter_map(|file| file.parent());
        let folder = folders.iter().map(PathBuf::as_path).chain(parents).map(Some).reduce(common);
        let folder = folder.flatten().ok_or(WalkError::Apart)?.to_owned();
        Ok(Self { folder, folders, files })
    }

    /// What leads from the root of the repository to this folder, with a slash at its end; empty if there is no repository.
    pub(crate) fn prefix(&self) -> String {
        let repository = self.folder.ancestors().find(|folder| folder.join(".git").exists());
        let below = repository.and_then(|repository| self.folder.strip_prefix(repository).ok());
        let parts = below.into_iter().flat_map(Path::components);
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned() + "/").collect()
    }

    /// A path below the root, as it is shown; `None` if its name is no UTF-8.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.folder).ok()?;
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        Some(parts?.join("/"))
    }

    /// The same for a message, whatever its name is.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let shown = || path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
        match self.relative(path).unwrap_or_else(shown) {
            empty if empty.is_empty() => ".".to_owned(),
            path => path,
        }
    }
}

fn common<'p>(one: Option<&'p Path>, other: Option<&'p Path>) -> Option<&'p Path> {
    let other = other?;
    one?.ancestors().find(|folder| other.starts_with(folder))
}

fn trouble(path: &Path, source: io::Error) -> WalkError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => WalkError::Missing(path),
        _ => WalkError::Unreadable { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_folder_the_files_folder_or_what_all_have_in_common() {
        let tree = tempfile::tempdir().unwrap();
        let top = tree.path().canonicalize().unwrap();
        for folder in ["a/b", "a/c"] {
            fs::create_dir_all(top.join(folder)).unwrap();
            fs::write(top.join(folder).join("x.ts"), "").unwrap();
        }
        let root = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| top.join(path)).collect();
            Root::find(&paths).unwrap().folder
        };
        assert_eq!(root(&["a"]), top.join("a"));
        assert_eq!(root(&["a/b/x.ts"]), top.join("a/b"));
        assert_eq!(root(&["a/b/x.ts", "a/c"]), top.join("a"));
        assert_eq!(root(&["a/b", "a"]), top.join("a"));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let error = Root::find(&["/no/such/place".into()]).unwrap_err();
        assert_eq!(error.to_string(), "there is no `/no/such/place`; give a file or a folder that exists");
        assert!(matches!(Root::find(&["/dev/null/x".into()]), Err(WalkError::Missing(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_scanned() {
        assert!(matches!(Root::find(&["/dev/null".into()]), Err(WalkError::Strange(_))));
    }
}

//! Which files the workspace has: those that git tracks and those that it would if they were added. A check that walked the
//! folder instead would judge build output, and one that asked for tracked files only would miss what is about to be committed.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{root::Root, run::Run};

/// The workspace with the list of its files.
pub(crate) struct Workspace {
    pub(crate) root: Root,
    /// Relative to the root, sorted, each once, all of them there.
    pub(crate) files: Vec<String>,
}

impl Workspace {
    /// Asks git.
    pub(crate) fn open(root: &Root) -> Result<Self> {
        let listed = Run::new(root, "git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .quiet()
            .text()
            .context("failed to list the files of the workspace; it must be a git repository")?;
        // What was deleted but not yet removed from the index is still listed; so are submodules, which are folders.
        let mut files: Vec<String> =
            listed.split('\0').filter(|path| root.join(path).is_file()).map(str::to_owned).collect();
        files.sort();
        files.dedup();
        Ok(Self { root: root.clone(), files })
    }

    /// The files whose name ends in one of the extensions.
    pub(crate) fn with_extension(&self, wanted: &[&str]) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(move |file| {
            Path::new(file)
                .extension()
                .and_then(|found| found.to_str())
                .is_some_and(|found| wanted.contains(&found))
        })
    }
}

#[cfg(test)]
impl Workspace {
    /// A workspace of a test: the files are written below the folder.
    pub(crate) fn of_test(folder: &Path, files: &[(&str, &str)]) -> Self {
        let root = Root::of_test(folder);
        for (path, text) in files {
            root.write(path, text).unwrap();
        }
        Self { root, files: files.iter().map(|(path, _)| (*path).to_owned()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_are_listed_and_deleted_or_ignored_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        let git = |args: &[&str]| Run::new(&root, "git").args(args).quiet().text().unwrap();
        for file in ["tracked.rs", "deleted.rs", "new one.rs", "skipped.rs"] {
            root.write(file, "").unwrap();
        }
        root.write(".gitignore", "skipped.rs\n").unwrap();
        git(&["init", "--quiet"]);
        git(&["add", "tracked.rs", "deleted.rs"]);
        std::fs::remove_file(root.join("deleted.rs")).unwrap();

        let workspace = Workspace::open(&root).unwrap();
        assert_eq!(workspace.files, [".gitignore", "new one.rs", "tracked.rs"]);
        assert_eq!(workspace.with_extension(&["rs"]).collect::<Vec<_>>(), ["new one.rs", "tracked.rs"]);
    }
}

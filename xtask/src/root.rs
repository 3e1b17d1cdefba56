//! The folder that a command works on. Every path below it is written with forward slashes, relative to it, because that is
//! what people read in messages and what git prints.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

/// The root of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// The folder given; else the one above the manifest that cargo names to what it runs; else the one this program was built
    /// in. The last alone would not do: two checkouts that share a target folder share one build of this program.
    pub(crate) fn find(given: Option<PathBuf>, manifest_folder: Option<PathBuf>) -> Result<Self> {
        let above = || manifest_folder.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).join("..");
        let folder = given.unwrap_or_else(above);
        let folder = folder.canonicalize().with_context(|| {
            format!("there is no workspace at {}; run `cargo xtask` inside the repository", folder.display())
        })?;
        ensure!(
            folder.join("Cargo.toml").is_file(),
            "{} holds no Cargo.toml, so it is no workspace; run `cargo xtask` inside the repository",
            folder.display()
        );
        Ok(Self(folder))
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where a file or folder of the workspace lies.
    pub(crate) fn join(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// The text of a file. Bytes that are no UTF-8 are replaced: a damaged file is still a file with lines.
    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        let bytes = fs::read(self.join(relative)).with_context(|| format!("failed to read {relative}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of a file that need not be there.
    pub(crate) fn read_if_there(&self, relative: &str) -> Result<Option<String>> {
        if self.join(relative).exists() { self.read(relative).map(Some) } else { Ok(None) }
    }

    /// Writes a file, making its folder.
    pub(crate) fn write(&self, relative: &str, text: &str) -> Result<()> {
        let path = self.join(relative);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("failed to make the folder of {relative}"))?;
        }
        fs::write(&path, text).with_context(|| format!("failed to write {relative}"))
    }

    /// A workspace in a folder of a test, without asking what it holds.
    #[cfg(test)]
    pub(crate) fn of_test(folder: &Path) -> Self {
        Self(folder.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_argument_the_root_is_the_workspace_of_this_crate() {
        let root = Root::find(None, None).unwrap();
        assert!(root.join("xtask/src/main.rs").is_file());
    }

    #[test]
    fn what_cargo_names_comes_before_where_it_was_built_and_an_argument_before_both() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let root = Root::of_test(&folder.path().join(name));
            root.write("Cargo.toml", "").unwrap();
            root.write("xtask/Cargo.toml", "").unwrap();
            root.path().canonicalize().unwrap()
        });
        assert_eq!(Root::find(None, Some(one.join("xtask"))).unwrap().path(), one);
        assert_eq!(Root::find(Some(other.clone()), Some(one.join("xtask"))).unwrap().path(), other);
    }

    #[test]
    fn a_folder_without_a_manifest_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Root::find(Some(folder.path().to_owned()), None).unwrap_err();
        assert!(error.to_string().contains("no Cargo.toml"), "{error}");
    }

    #[test]
    fn what_was_written_is_read_back_and_its_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        assert_eq!(root.read_if_there("a/b/c.txt").unwrap(), None);
        root.write("a/b/c.txt", "text").unwrap();
        assert_eq!(root.read_if_there("a/b/c.txt").unwrap().as_deref(), Some("text"));
    }
}

//! A copy of a checkout in which files can be changed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// What is not copied: no scan reads it, and it is most of a checkout.
const LEFT: &[&str] = &[".git", "node_modules"];
/// A copy, with those of its sources in order that a scan reads: to change another one would change nothing.
pub(super) struct Copy {
    sources: Vec<PathBuf>,
    changes: usize,
}

impl Copy {
    /// Copies a folder, without links and what no scan reads. `read` says which files of a folder are read.
    pub(super) fn of(
        folder: &Path,
        to: &Path,
        read: impl FnOnce(&Path) -> Result<Vec<PathBuf>>,
    ) -> Result<Self> {
        copy(folder, to)
            .with_context(|| format!("failed to copy {} to {}", folder.display(), to.display()))?;
        let mut sources = read(to)?;
        sources.sort();
        Ok(Self { sources, changes: 0 })
    }

    /// Adds a line to the file in the middle, another one each time.
    pub(super) fn change_one(&mut self) -> Result<()> {
        let middle = self.sources.get(self.sources.len() / 2).context("there is no source to change")?;
        self.changes += 1;
        let text = fs::read_to_string(middle)?;
        let declares = match middle.extension().and_then(|ending| ending.to_str()) {
            Some("py") => "",
            Some("go") => "const ",
            _ => "export const ",
        };
        Ok(fs::write(middle, format!("{text}\n{declares}changed{} = {}\n", self.changes, self.changes))?)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let target = to.join(&name);
        if kind.is_dir() && !LEFT.iter().any(|left| name == *left) {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_sources_and_one_of_them_changes() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        for path in ["src", "node_modules/x", ".git"] {
            fs::create_dir_all(from.join(path)).unwrap();
        }
        for path in ["src/a.ts", "src/b.ts", "src/c.test.ts", "readme.md", "node_modules/x/index.js"] {
            fs::write(from.join(path), "x").unwrap();
        }
        let to = folder.path().join("to");
        let read = |copy: &Path| Ok(vec![copy.join("src/b.ts"), copy.join("src/a.ts")]);
        let mut copy = Copy::of(&from, &to, read).unwrap();
        assert!(to.join("readme.md").exists() && !to.join("node_modules").exists());
        copy.change_one().unwrap();
        copy.change_one().unwrap();
        for left in ["src/a.ts", "src/c.test.ts"] {
            assert_eq!(fs::read_to_string(to.join(left)).unwrap(), "x");
        }
        let changed = fs::read_to_string(to.join("src/b.ts")).unwrap();
        assert!(
            changed.contains("export const changed1 = 1\n") && changed.contains("changed2 = 2\n"),
            "{changed}"
        );
    }
}

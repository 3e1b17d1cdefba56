//! Copies of checkouts to write into: what is given is only read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::checkout;

/// Where the sources of a server are: a repository, or a plain folder that is taken as it is.
pub(crate) enum Sources {
    Repository(PathBuf),
    Folder(PathBuf),
}

/// Folders that hold no sources of the server.
const LEFT_OUT: &[&str] = &[".git", "node_modules"];

/// Finds a server in folders that hold checkouts or are one. The full name comes first: a folder of checkouts may be called like a server.
pub(crate) fn find(folders: &[PathBuf], repository: &str) -> Option<Sources> {
    let names = names(repository);
    let below = || names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let given = || folders.iter().filter(|folder| names.iter().any(|name| folder.ends_with(name))).cloned();
    let repository = folders.iter().find_map(|folder| checkout::find(folder, repository));
    repository.map(Sources::Repository).or_else(|| {
        let folder = below().chain(given()).find(|place| place.is_dir())?;
        Some(if checkout::is_repository(&folder) {
            Sources::Repository(folder)
        } else {
            Sources::Folder(folder)
        })
    })
}

/// What the folder of a repository may be called. Of a package, `npm:@scope/name` is `npm+@scope+name`.
fn names(repository: &str) -> [String; 2] {
    [repository.replace(['/', ':'], "+"), repository.rsplit('/').next().unwrap_or(repository).to_owned()]
}

/// Writes a commit, or a plain folder as it is, into an empty folder.
pub(crate) fn copy(sources: &Sources, commit: &str, into: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(into);
    fs::create_dir_all(into)?;
    match sources {
        Sources::Repository(repository) => checkout::take_out(repository, commit, into),
        Sources::Folder(folder) => {
            copy_folder(folder, into).with_context(|| format!("failed to copy {}", folder.display()))
        }
    }
}

/// Copies files and folders. Links are left out, because they may lead anywhere.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
                fs::create_dir(&target)?;
                copy_folder(&entry.path(), &target)?;
            }
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// The path of a file of a list, which must not lead out of the copy.
pub(crate) fn file(copy: &Path, relative: &str) -> Result<PathBuf> {
    let inside = Path::new(relative).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    ensure!(inside, "`{relative}` leads out of the checkout");
    Ok(copy.join(relative))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Root;

    #[test]
    fn a_folder_is_found_by_name_and_copied_without_what_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write("given/owner+name/src/a.ts", "one").unwrap();
        root.write("given/owner+name/node_modules/b/b.js", "two").unwrap();
        let into = folder.path().join("copy");
        for given in ["given", "given/owner+name"] {
            let sources = find(&[folder.path().join(given)], "owner/name").unwrap();
            copy(&sources, "any", &into).unwrap();
            assert!(into.join("src/a.ts").is_file() && !into.join("node_modules").exists());
        }
        assert!(find(&[folder.path().join("given")], "owner/other").is_none());
        root.write("given/owner+given/b.ts", "").unwrap();
        let Some(Sources::Folder(found)) = find(&[folder.path().join("given")], "owner/given") else {
            panic!()
        };
        assert!(found.ends_with("owner+given"), "not the folder that holds it: {}", found.display());
        root.write("given/npm+@scope+pack/index.js", "").unwrap();
        assert!(find(&[folder.path().join("given")], "npm:@scope/pack").is_some());
    }

    #[test]
    fn a_file_of_a_list_stays_in_the_copy() {
        assert!(file(Path::new("copy"), "src/a.ts").is_ok());
        for outside in ["../a.ts", "/etc/passwd", "src/../../a.ts"] {
            assert!(file(Path::new("copy"), outside).is_err(), "{outside}");
        }
    }
}

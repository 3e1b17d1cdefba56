//! Folders beside a server's code in which it keeps its files: of each of them every instance has a copy of its own, laid over the folder in its own
//! view of the file system.
//!
//! ```text
//! EROFS: read-only file system, open '/…/server-memory/dist/memory.jsonl'
//!     → what is in /…/server-memory/dist is copied for each instance, and the server finds the copy there
//! ```
//!
//! Which folders these are is read from what the server complains of when the kernel refuses it to write. What is laid over a folder is a copy that is
//! private to one instance: nothing outside changes, and the next instance is as fresh as the first. A folder with too much in it is not copied.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use interlock_model::Answer;

/// More folders than this are not copied for one server.
const MOST_PLACES: usize = 3;
/// Nor is a folder with more in it.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 32 << 20;
const DEEPEST: usize = 24;

/// How systems and languages say that a place cannot be written.
const REFUSED: &[&str] =
    &["erofs", "read-only file system", "readonly file system", "eacces", "permission denied"];

/// Folders of the system, which no server keeps its own files in.
const OF_THE_SYSTEM: &[&str] =
    &["/proc", "/sys", "/dev", "/run", "/etc", "/usr/bin", "/bin", "/sbin", "/lib", "/usr/lib"];

/// What is known of them for one server.
#[derive(Debug, Default)]
pub struct OwnFolders {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    places: Vec<PathBuf>,
    too_large: Vec<PathBuf>,
}

impl OwnFolders {
    /// The folders of which each instance has a copy.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        self.known().places.clone()
    }

    /// Learns from the answers of an instance, whose folders are below `root`. Whether they complain of a folder that instances are given a copy of.
    pub(crate) fn learn<'a>(&self, answers: impl IntoIterator<Item = &'a Answer>, root: &Path) -> bool {
        let texts = answers.into_iter().map(|answer| match answer {
            Answer::Result { value, .. } | Answer::Error { value, .. } => value.to_string(),
            Answer::Missing { reason } => reason.clone(),
        });
        // Every answer is looked at: one instance may teach several places.
        texts.filter(|text| self.learn_from(text, root)).count() > 0
    }

    /// The same from what a server says as it ends.
    pub(crate) fn learn_from(&self, words: &str, root: &Path) -> bool {
        let lower = words.to_lowercase();
        if !REFUSED.iter().any(|refused| lower.contains(refused)) {
            return false;
        }
        let mut is_given = false;
        for folder in paths(words).filter_map(|path| folder_of(path, root)) {
            let mut known = self.known();
            if known.places.iter().any(|place| folder.starts_with(place)) {
                is_given = true;
                continue;
            }
            if known.too_large.contains(&folder) {
                continue;
            }
            if known.places.len() >= MOST_PLACES || !is_small(&folder) {
                known.too_large.push(folder);
                continue;
            }
            known.places.retain(|place| !place.starts_with(&folder));
            known.places.push(folder);
            is_given = true;
        }
        is_given
    }

    /// What there is to say of them, for people.
    pub(crate) fn notes(&self) -> Vec<String> {
        let known = self.known();
        let copied = known.places.iter().map(|place| {
            format!(
                "the server keeps files in {}, beside {{scratch}}: every instance had a copy of that folder, and nothing in it was changed",
                place.display()
            )
        });
        let left = known.too_large.iter().map(|place| {
            format!(
                "the server wants to write in {}, of which it cannot be given a copy; if it can be told another place, --env or an argument with {{scratch}} \
                 does",
                place.display()
            )
        });
        copied.chain(left).collect()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The absolute paths in a text.
fn paths(words: &str) -> impl Iterator<Item = &Path> {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '\\' | '(' | ')' | ',' | ';' | '<' | '>')
    };
    let parts = words.split(ends).map(|part| part.trim_end_matches(['.', ':']));
    parts.filter(|part| part.len() > 1 && part.starts_with('/') && !part.starts_with("//")).map(Path::new)
}

/// The folder that is there of a path that was refused, if a server may have it.
fn folder_of(path: &Path, root: &Path) -> Option<PathBuf> {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir())?.canonicalize().ok()?;
    let is_above = |other: &Path| other.starts_with(&folder) || folder.starts_with(other);
    let is_of_system = OF_THE_SYSTEM.iter().any(|system| folder.starts_with(system));
    // One name below the root is everybody's: `/usr`, `/tmp`, `/home`.
    let is_shared = folder.components().count() < 3;
    (!is_above(root) && !is_of_system && !is_shared).then_some(folder)
}

/// Whether a folder can be copied for each instance.
fn is_small(folder: &Path) -> bool {
    let (mut files, mut bytes) = (MOST_FILES, MOST_BYTES);
    measure(folder, 0, &mut files, &mut bytes).is_some()
}

fn measure(folder: &Path, depth: usize, files: &mut usize, bytes: &mut u64) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        *files = files.checked_sub(1)?;
        let about = entry.metadata().ok()?;
        if about.is_dir() {
            let below = (depth < DEEPEST).then(|| entry.path())?;
            measure(&below, depth + 1, files, bytes)?;
        } else if about.is_file() {
            *bytes = bytes.checked_sub(about.len())?;
        }
    }
    Some(())
}

/// Copies a folder: its folders, files and links; nothing else has a meaning elsewhere.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let about = entry.metadata()?;
        if about.is_dir() {
            copy(&source, &target)?;
        } else if about.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if about.is_file() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_refused_is_copied_with_what_is_in_it() {
        let (package, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dist = package.path().join("dist");
        fs::create_dir_all(dist.join("lib")).unwrap();
        fs::write(dist.join("lib/index.js"), "code").unwrap();
        std::os::unix::fs::symlink("lib", dist.join("link")).unwrap();
        let own = OwnFolders::default();
        let words = format!("EROFS: read-only file system, open '{}/memory.jsonl.7.tmp'", dist.display());
        assert!(own.learn_from(&words, root.path()));
        assert!(own.learn_from(&words, root.path()), "whoever was started before has no copy");
        let [place] = own.places().try_into().unwrap();
        assert_eq!(place, dist.canonicalize().unwrap());
        let to = root.path().join("copy");
        copy(&place, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("lib/index.js")).unwrap(), "code");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("lib"));
    }

    #[test]
    fn nobody_is_given_the_system_nor_what_is_too_much() {
        let root = tempfile::tempdir().unwrap();
        let large = tempfile::tempdir().unwrap();
        fs::File::create(large.path().join("x")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let own = OwnFolders::default();
        let refused = |path: &str| format!("[Errno 30] Read-only file system: '{path}'");
        for path in [
            "/tmp/x".to_owned(),
            "/etc/passwd".into(),
            "/nowhere/at/all".into(),
            format!("{}/scratch/a.txt", root.path().display()),
            format!("{}/y", large.path().display()),
        ] {
            assert!(!own.learn_from(&refused(&path), root.path()), "{path}");
        }
        assert!(!own.learn_from(&format!("no such file: '{}/y'", root.path().display()), Path::new("/x")));
        assert_eq!(own.places(), [] as [PathBuf; 0]);
        assert_eq!(own.notes().len(), 1, "of what is too much it is said");
    }
}

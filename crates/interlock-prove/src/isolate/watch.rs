//! A look at the user's folders before and after: names, kinds, sizes, modes and times, no contents. Only as much as is cheap.
//!
//! Needed where the kernel does not refuse. In the current folder nobody else is expected to write within a minute, so what changes there is
//! laid to the server. In the home folder everybody writes; there it has to bear a trace of what the server was told.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::surroundings::is_cache;

/// So many entries are looked at in each folder, and so deep.
const MOST: usize = 20_000;
const DEEPEST: usize = 6;
/// Of a file that may bear a trace so much is read.
const READ: u64 = 64 << 10;
/// Shorter words are in every file by chance.
const TELLING: usize = 5;
/// More changes than this are counted.
const SHOWN: usize = 20;

/// What was there.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    places: Vec<Place>,
    /// Files that we write ourselves.
    ours: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
struct Place {
    folder: PathBuf,
    is_home: bool,
    seen: BTreeMap<PathBuf, About>,
    /// Whether there was more than was looked at.
    cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct About {
    inode: u64,
    size: u64,
    mode: u32,
    owner: (u32, u32),
    modified: (i64, i64),
    is_folder: bool,
}

/// What is there now and was not, or the other way round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// What is laid to the server.
    pub of_server: Vec<String>,
    /// What somebody else may have done.
    pub notes: Vec<String>,
}

impl Watch {
    /// Looks at the current folder and the home. `ours` are files that this program writes meanwhile.
    #[must_use]
    pub fn begin(directory: &Path, home: Option<&Path>, ours: &[PathBuf]) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (directory, home) = (real(directory), home.map(real));
        let ours = ours.iter().map(|file| directory.join(file)).collect();
        let mut watch = Self { places: Vec::new(), ours };
        // Whoever stands in the home folder, or above it, stands where everybody writes.
        let holds_home = home.as_ref().is_some_and(|home| home.starts_with(&directory));
        watch.places.push(Place::look(&directory, holds_home));
        watch.places.extend(home.filter(|_| !holds_home).map(|home| Place::look(&home, true)));
        watch
    }

    /// Looks again. `handed` is what the server was told.
    #[must_use]
    pub fn end(&self, handed: &BTreeSet<String>) -> Changes {
        let mut changes = Changes::default();
        let telling: Vec<&str> =
            handed.iter().map(String::as_str).filter(|text| text.len() >= TELLING).collect();
        let current = self.places.first().map(|place| place.folder.clone()).unwrap_or_default();
        for place in &self.places {
            let now = Place::look(&place.folder, place.is_home);
            if place.cut || now.cut {
                changes.notes.push(format!(
                    "{} has more entries than were looked at, {MOST} of them: changes further down are not seen",
                    place.folder.display()
                ));
            }
            for (path, what) in differences(place, &now) {
                // The current folder may be in the home folder, and was looked at by itself.
                let is_seen = place.folder != current && path.starts_with(&current);
                if is_seen || self.is_ours(&path) {
                    continue;
                }
                let line = format!("{} {what}", path.display());
                if !place.is_home || bears_trace(&path, &telling) {
                    changes.of_server.push(line);
                } else {
                    changes
                        .notes
                        .push(format!("{line}, perhaps by another program: it is in your home folder"));
                }
            }
        }
        cut_short(&mut changes.of_server);
        cut_short(&mut changes.notes);
        changes
    }

    fn is_ours(&self, path: &Path) -> bool {
        let is_beside = |ours: &PathBuf| {
            // A replay that is not the first has a number, and what is written whole has a temporary name first.
            let stem = ours.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            path.parent() == ours.parent() && !stem.is_empty() && name.contains(&stem)
        };
        self.ours.iter().any(|ours| path == ours || is_beside(ours))
    }
}

impl Place {
    /// Breadth first: what is near the top is more likely to be somebody's.
    fn look(folder: &Path, is_home: bool) -> Self {
        let mut place = Self { folder: folder.to_owned(), is_home, seen: BTreeMap::new(), cut: false };
        let mut open = VecDeque::from([(folder.to_owned(), 0)]);
        while let Some((at, depth)) = open.pop_front() {
            let Ok(entries) = fs::read_dir(&at) else { continue };
            for entry in entries.filter_map(Result::ok) {
                if place.seen.len() >= MOST {
                    place.cut = true;
                    return place;
                }
                let path = entry.path();
                let below = path.strip_prefix(folder).unwrap_or(&path);
                if is_left_out(below) || (is_home && is_cache(below)) {
                    continue;
                }
                let Ok(about) = entry.metadata() else { continue };
                place.seen.insert(path.clone(), About::of(&about));
                if about.is_dir() && depth + 1 < DEEPEST {
                    open.push_back((path, depth + 1));
                }
            }
        }
        place
    }
}

impl About {
    fn of(about: &fs::Metadata) -> Self {
        let is_folder = about.is_dir();
        Self {
            inode: about.ino(),
            // Of a folder both change with what is in it, which is seen by itself.
            size: if is_folder { 0 } else { about.size() },
            modified: if is_folder { (0, 0) } else { (about.mtime(), about.mtime_nsec()) },
            mode: about.mode(),
            owner: (about.uid(), about.gid()),
            is_folder,
        }
    }
}

/// Our own folders for instances, and what version control and compilers write without being asked.
fn is_left_out(below: &Path) -> bool {
    below.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.starts_with("interlock-prove-") || name == ".git" || name == "__pycache__"
    })
}

fn differences(before: &Place, now: &Place) -> Vec<(PathBuf, &'static str)> {
    let mut found = Vec::new();
    for (path, about) in &before.seen {
        match now.seen.get(path) {
            None if !now.cut => found.push((path.clone(), "is gone")),
            Some(is) if is.is_folder != about.is_folder || is.inode != about.inode => {
                found.push((path.clone(), "is another file now"));
            }
            Some(is) if is.modified != about.modified || is.size != about.size => {
                found.push((path.clone(), "was written"));
            }
            Some(is) if is != about => found.push((path.clone(), "has another mode or owner")),
            _ => {}
        }
    }
    if !before.cut {
        found.extend(
            now.seen
                .keys()
                .filter(|path| !before.seen.contains_key(*path))
                .map(|path| (path.clone(), "is new")),
        );
    }
    // Of a whole folder that came or went, itself is enough.
    let mut outermost: Vec<(PathBuf, &'static str)> = Vec::new();
    found.sort();
    for (path, what) in found {
        if !outermost.iter().any(|(above, as_well)| path.starts_with(above) && *as_well == what) {
            outermost.push((path, what));
        }
    }
    outermost
}

/// Whether a path, or the file there, holds something that the server was told.
fn bears_trace(path: &Path, telling: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if telling
        .iter()
        .any(|text| Path::new(text).file_name().is_some_and(|told| *told.to_string_lossy() == *name))
    {
        return true;
    }
    let mut text = Vec::new();
    let read = fs::File::open(path).map(|file| file.take(READ).read_to_end(&mut text));
    if !matches!(read, Ok(Ok(_))) {
        // Of a folder that is new what is in it tells.
        let Ok(entries) = fs::read_dir(path) else { return false };
        return entries.filter_map(Result::ok).take(50).any(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_file()) && bears_trace(&entry.path(), telling)
        });
    }
    let text = String::from_utf8_lossy(&text);
    telling.iter().any(|told| text.contains(told))
}

fn cut_short(lines: &mut Vec<String>) {
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more"));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn handed(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_comes_goes_and_changes_in_the_current_folder_is_laid_to_the_server() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["gone", "written", "mode", "same", "interlock-replay.json"] {
            fs::write(at(name), "x").unwrap();
        }
        let watch = Watch::begin(folder.path(), Some(home.path()), &["interlock-replay.json".into()]);
        fs::remove_file(at("gone")).unwrap();
        fs::write(at("written"), "other").unwrap();
        fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(at("new")).unwrap();
        fs::write(at("new").join("inside"), "").unwrap();
        fs::write(at("interlock-replay.json"), "other").unwrap();
        fs::write(at("interlock-replay-2.json"), "other").unwrap();
        let changes = watch.end(&BTreeSet::new());
        let lines = |names: &[(&str, &str)]| -> Vec<String> {
            names.iter().map(|(name, what)| format!("{} {what}", at(name).display())).collect()
        };
        let expected = lines(&[
            ("gone", "is gone"),
            ("mode", "has another mode or owner"),
            ("new", "is new"),
            ("written", "was written"),
        ]);
        assert_eq!(changes, Changes { of_server: expected, notes: Vec::new() });
    }

    #[test]
    fn in_the_home_folder_only_what_bears_a_trace_is() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("work");
        fs::create_dir(&folder).unwrap();
        let watch = Watch::begin(&folder, Some(home.path()), &[]);
        fs::write(home.path().join(".history"), "ls").unwrap();
        fs::create_dir(home.path().join(".server")).unwrap();
        fs::write(home.path().join(".server/db.json"), r#"{"title": "alpha beta one"}"#).unwrap();
        fs::create_dir(home.path().join(".npm")).unwrap();
        fs::write(folder.join("x"), "").unwrap();
        let changes = watch.end(&handed(&["alpha beta one", "one"]));
        assert_eq!(changes.of_server.len(), 2, "{changes:?}");
        assert!(changes.of_server.iter().any(|line| line.contains(".server")), "{changes:?}");
        assert_eq!(changes.notes.len(), 1, "{changes:?}");
        assert!(changes.notes[0].contains(".history"), "{changes:?}");
    }

    #[test]
    fn whoever_stands_in_the_home_folder_is_not_blamed_for_all_of_it() {
        let home = tempfile::tempdir().unwrap();
        let watch = Watch::begin(home.path(), Some(home.path()), &[]);
        fs::write(home.path().join(".history"), "ls").unwrap();
        fs::write(home.path().join("file-a"), "").unwrap();
        let changes = watch.end(&handed(&["file-a"]));
        assert_eq!((changes.of_server.len(), changes.notes.len()), (1, 1), "{changes:?}");
    }
}

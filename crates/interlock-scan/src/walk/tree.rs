//! The walk itself: folder by folder, in the order of names, with the rules of every `.gitignore` on the way.

use std::{
    fs::{self, DirEntry, FileType},
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::{
    Limits, Notes, Root, SourceFile, compiled, foreign,
    names::{self, Left},
    read::{cause, read_text},
};

/// What a scan wants of a tree.
pub(crate) struct Wanted<'w> {
    /// The endings of source files.
    pub(crate) extensions: &'w [&'w str],
    /// The names of settings files.
    pub(crate) settings: &'w [&'w str],
    /// What the configuration ignores.
    pub(crate) ignored: &'w Gitignore,
    /// How much is taken.
    pub(crate) limits: Limits,
}

/// What a walk came to.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The sources, sorted by path.
    pub(crate) sources: Vec<SourceFile>,
    /// The settings files, sorted by path.
    pub(crate) settings: Vec<SourceFile>,
    /// The manifests of packages in languages that no front end reads, sorted by path.
    pub(crate) manifests: Vec<SourceFile>,
    /// What was left out.
    pub(crate) notes: Notes,
}

/// How many entries of folders are looked at. A tree that has more is no source tree.
const MOST_ENTRIES: usize = 2_000_000;

/// The largest `.gitignore` that is read.
const LARGEST_RULES: u64 = 1 << 20;

/// Walks everything that was asked for.
pub(crate) fn walk(root: &Root, wanted: &Wanted<'_>) -> Tree {
    let mut walker = Walker { root, wanted, tree: Tree::default(), traces: Vec::new(), entries: 0 };
    for folder in &root.folders {
        walker.folder(folder);
    }
    for file in &root.files {
        walker.given(file);
    }
    walker.finish()
}

struct Walker<'w> {
    root: &'w Root,
    wanted: &'w Wanted<'w>,
    tree: Tree,
    /// Declarations and source maps: not scanned, but they tell what was compiled.
    traces: Vec<String>,
    entries: usize,
}

/// The rules that hold in a folder: its own before those above it.
struct Rules {
    own: Gitignore,
    above: Option<Rc<Rules>>,
}

impl Walker<'_> {
    fn folder(&mut self, top: &Path) {
        // What was given by name is scanned, even if it is called `dist` and its sources were given too.
        let explicit = self.root.relative(top).is_some_and(|top| compiled::is_output(&top));
        let mut pending = vec![(top.to_owned(), rules_above(top))];
        while let Some((folder, above)) = pending.pop() {
            let rules = self.rules_of(&folder, above);
            let mut inner = Vec::new();
            for entry in self.entries_of(&folder) {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) => {
                        let file = |path: String| {
                            let size = entry.metadata().map_or(0, |metadata| metadata.len());
                            SourceFile { path, place: entry.path(), size, explicit }
                        };
                        if self.entry(&path, kind, rules.as_deref(), file) {
                            inner.push((path, rules.clone()));
                        }
                    }
                    Err(error) => self.tree.notes.trouble(cause(&error), &self.root.shown(&path)),
                }
            }
            pending.extend(inner.into_iter().rev());
        }
    }

    /// What is in a folder, in the order of names.
    fn entries_of(&mut self, folder: &Path) -> Vec<DirEntry> {
        let shown = self.root.shown(folder);
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) => {
                self.tree.notes.trouble(cause(&error), &shown);
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        for entry in listing {
            if self.entries == MOST_ENTRIES {
                self.tree.notes.trouble("the tree has too many entries", &shown);
                break;
            }
            self.entries += 1;
            match entry {
                Ok(entry) => entries.push(entry),
                Err(error) => self.tree.notes.trouble(cause(&error), &shown),
            }
        }
        entries.sort_by_cached_key(DirEntry::file_name);
        entries
    }

    /// Takes an entry or leaves it; whether it is a folder to go into.
    fn entry(
        &mut self,
        path: &Path,
        kind: FileType,
        rules: Option<&Rules>,
        found: impl FnOnce(String) -> SourceFile,
    ) -> bool {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
        let is_ignored = || ignored(rules, path, kind.is_dir()) && !is_command(path, kind);
        if name.starts_with('.') || is_ignored() {
            return false;
        }
        if kind.is_symlink() {
            self.link(path);
            return false;
        }
        if self.wanted.ignored.matched(path, kind.is_dir()).is_ignore() {
            self.leave(kind, &name, Left::Configured);
            return false;
        }
        if kind.is_dir() {
            return match names::folder(&name) {
                Some(left) => {
                    self.tree.notes.left_folder(left);
                    false
                }
                // A submodule or a nested checkout is still part of what was given.
                None => true,
            };
        }
        let Some(relative) = self.root.relative(path) else {
            if self.is_source(&name) {
                self.tree.notes.trouble("its name is no UTF-8", &self.root.shown(path));
            }
            return false;
        };
        if kind.is_file() {
            self.file(relative, &name, found);
        } else if self.is_source(&name) {
            self.tree.notes.trouble("is no regular file", &relative);
        }
        false
    }

    fn file(&mut self, relative: String, name: &str, found: impl FnOnce(String) -> SourceFile) {
        if names::is_setting(self.wanted.settings, name) {
            self.tree.settings.push(SourceFile { explicit: false, ..found(relative) });
            return;
        }
        if foreign::is_manifest(name) {
            if self.tree.manifests.len() < foreign::MOST && !foreign::is_aside(&relative) {
                self.tree.manifests.push(SourceFile { explicit: false, ..found(relative) });
            }
            return;
        }
        if [".js.map", ".mjs.map", ".cjs.map"].iter().any(|end| name.ends_with(end)) {
            self.traces.push(relative);
            return;
        }
        if names::is_notebook(name) {
            self.tree.notes.left_file(Left::Notebook);
            return;
        }
        if !self.is_source(name) {
            return;
        }
        match names::file(&relative) {
            Some(left) => {
                self.tree.notes.left_file(left);
                if left == Left::Declaration {
                    self.traces.push(relative);
                }
            }
            None => self.tree.sources.push(found(relative)),
        }
    }

    /// A file that was given by name: it is scanned whatever it is called, if a front end can read it.
    fn given(&mut self, path: &Path) {
        let Some(relative) = self.root.relative(path) else {
            self.tree.notes.trouble("its name is no UTF-8", &self.root.shown(path));
            return;
        };
        let name = names::file_name(&relative).to_owned();
        if names::is_setting(self.wanted.settings, &name) {
            self.tree.settings.push(given(relative, path));
        } else if self.is_source(&name) {
            self.tree.sources.push(given(relative, path));
        } else {
            self.tree.notes.trouble("is in no language that is known here", &relative);
        }
    }

    /// A link is not followed: what it leads to inside the root is scanned where it stands, what is outside was not asked for.
    fn link(&mut self, path: &Path) {
        let why = match path.canonicalize() {
            Ok(target) if path.starts_with(&target) => "is a link to a folder around it",
            Ok(target) if !target.starts_with(&self.root.folder) => "is a link out of the scanned folder",
            Ok(_) => return,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "is a link to nothing",
            Err(_) => "is a link that leads in a circle",
        };
        self.tree.notes.trouble(why, &self.root.shown(path));
    }

    fn leave(&mut self, kind: FileType, name: &str, left: Left) {
        if kind.is_dir() {
            self.tree.notes.left_folder(left);
        } else if self.is_source(name) {
            self.tree.notes.left_file(left);
        }
    }

    fn is_source(&self, name: &str) -> bool {
        self.wanted.extensions.contains(&names::extension(name))
    }

    /// The rules of a folder, with those above it.
    fn rules_of(&mut self, folder: &Path, above: Option<Rc<Rules>>) -> Option<Rc<Rules>> {
        match own_rules(folder) {
            Ok(None) => above,
            Ok(Some(own)) => Some(Rc::new(Rules { own, above })),
            Err(why) => {
                self.tree.notes.trouble(why, &self.root.shown(&folder.join(GITIGNORE)));
                above
            }
        }
    }

    fn finish(self) -> Tree {
        let Tree { mut sources, mut settings, mut manifests, mut notes } = self.tree;
        for files in [&mut sources, &mut settings, &mut manifests] {
            // A file may have been given by name and lie in a folder that was given too.
            files.sort_by(|one, other| (&one.path, other.explicit).cmp(&(&other.path, one.explicit)));
            files.dedup_by(|later, kept| later.path == kept.path);
        }
        compiled::leave_out(&mut sources, &settings, &self.traces, &mut notes);
        bound(&mut sources, &self.wanted.limits, &mut notes);
        Tree { sources, settings, manifests, notes }
    }
}

/// Keeps the tree within its limits. What is beyond them is the end of the sorted list, so that every run leaves out the same.
fn bound(sources: &mut Vec<SourceFile>, limits: &Limits, notes: &mut Notes) {
    let mut total: u64 = 0;
    let fits = sources.iter().take(limits.files).take_while(|file| {
        // A file that is too large is not read at all.
        total = total.saturating_add(if file.size > limits.file { 0 } else { file.size });
        total <= limits.total
    });
    let kept = fits.count();
    if let Some(beyond) = sources.len().checked_sub(kept).filter(|beyond| *beyond > 0) {
        notes.say(format!(
            "not scanned: {beyond} more files: the tree is too large; scan its parts one by one"
        ));
        sources.truncate(kept);
    }
}

fn given(path: String, place: &Path) -> SourceFile {
    let size = fs::symlink_metadata(place).map_or(0, |metadata| metadata.len());
    SourceFile { path, place: place.to_owned(), size, explicit: true }
}

const GITIGNORE: &str = ".gitignore";

fn own_rules(folder: &Path) -> Result<Option<Gitignore>, String> {
    let place = folder.join(GITIGNORE);
    if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let text = read_text(&place, LARGEST_RULES)?;
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.lines() {
        // A line that is no pattern matches nothing; git does not complain either.
        let _ = builder.add_line(None, line);
    }
    Ok(builder.build().ok().filter(|rules| !rules.is_empty()))
}

/// The rules of the repository around a folder. They do not hold if they rule out the folder itself: it was asked for by name.
fn rules_above(top: &Path) -> Option<Rc<Rules>> {
    let around: Vec<PathBuf> = top.ancestors().map(Path::to_owned).collect();
    let repository = around.iter().position(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())?;
    let above = around.get(1..=repository).unwrap_or_default();
    let rules = above.iter().rev().fold(None, |above, folder| match own_rules(folder) {
        Ok(Some(own)) => Some(Rc::new(Rules { own, above })),
        _ => above,
    });
    let below = around.get(..repository).unwrap_or_default();
    let ruled_out = below.iter().any(|folder| ignored(rules.as_deref(), folder, true));
    if ruled_out { None } else { rules }
}

/// Whether a folder holds a program of Go: `cmd/shop-mcp`. A rule that is meant for the built file of the same name does not rule it out.
fn is_command(path: &Path, kind: FileType) -> bool {
    let in_commands = || path.parent().and_then(Path::file_name).is_some_and(|parent| parent == "cmd");
    kind.is_dir() && in_commands() && path.join("main.go").is_file()
}

/// The nearest rule decides.
fn ignored(rules: Option<&Rules>, path: &Path, is_folder: bool) -> bool {
    let mut rules = rules;
    while let Some(Rules { own, above }) = rules {
        if path.starts_with(own.path()) {
            match own.matched(path, is_folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        rules = above.as_deref();
    }
    false
}

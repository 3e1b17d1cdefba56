//! The server that writes down what it does, and what can be said of its file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::kit::{INTERLOCK, Line, Serving, scratch};

/// Its folder: the file of effects, and the configuration of a guard in front of it.
pub(crate) struct Effects {
    folder: TempDir,
}

impl Effects {
    pub(crate) fn new() -> Self {
        Self { folder: scratch() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    pub(crate) fn command(&self) -> Vec<String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guard/effects.py");
        vec!["python3".to_owned(), script.to_owned(), self.path().display().to_string()]
    }

    /// The server, without a guard.
    pub(crate) fn line(&self) -> Line {
        Line::bare(&self.command())
    }

    /// The same server over HTTP, of one era of the protocol: `handshake` or `stateless`.
    pub(crate) fn over_http(&self, era: &str) -> Serving {
        let mut command = self.command();
        command.push(era.to_owned());
        Line::bare(&command).serve()
    }

    /// A guard in front of it, over HTTP, with this in its configuration.
    pub(crate) fn configured(&self, policy: &str) -> Line {
        self.write_policy(policy);
        guarding(self.folder.path())
    }

    /// Writes the configuration, also while the guard runs.
    pub(crate) fn write_policy(&self, policy: &str) {
        let command = serde_json::to_string(&self.command()).expect("it is JSON, and TOML");
        let upstream = format!("[[upstream]]\nname = \"effects\"\ncommand = {command}\n");
        write(self.folder.path(), &format!("{policy}\n{upstream}"));
    }

    /// A file beside it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// How often each effect has happened, and whether any began that did not end.
    pub(crate) fn happened(&self) -> BTreeMap<String, usize> {
        let mut ended = BTreeMap::new();
        for name in self.lines("end ") {
            *ended.entry(name).or_default() += 1;
        }
        ended
    }

    pub(crate) fn began(&self) -> usize {
        self.lines("begin ").len()
    }

    /// Everything that it wrote down, in order.
    pub(crate) fn all(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn lines(&self, start: &str) -> Vec<String> {
        self.all().iter().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    }
}

/// A guard with this configuration, over HTTP.
pub(crate) fn configured(folder: &Path, text: &str) -> Line {
    write(folder, text);
    guarding(folder)
}

fn guarding(folder: &Path) -> Line {
    let path = folder.join("guard.toml").display().to_string();
    Line::bare(&[INTERLOCK, "guard", "--listen", "127.0.0.1:0", "--config", &path])
}

/// In one step, so that nobody reads half of it.
fn write(folder: &Path, text: &str) {
    let (new, path) = (folder.join("guard.toml.new"), folder.join("guard.toml"));
    std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path)).expect("it is written");
}

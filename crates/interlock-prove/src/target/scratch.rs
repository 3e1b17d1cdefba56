//! The folder that belongs to one instance, and texts that speak of it.

use std::{
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use interlock_model::Answer;
use serde_json::Value;
use tempfile::TempDir;

use crate::isolate::own;

/// An empty folder for the server and, beside it, one for us and one for what the server takes for temporary: it is killed, and cannot remove
/// it itself. All are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    _removed: TempDir,
    /// All of it, as the kernel names it.
    pub(crate) root: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) temporary: PathBuf,
    /// For sockets of a session; nobody else may enter.
    pub(crate) runtime: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        let root = TempDir::with_prefix("interlock-prove-")?;
        // Servers compare paths with what the system tells them, in which links are resolved.
        let path = root.path().canonicalize()?;
        let [server, ours, temporary, runtime] =
            ["scratch", "ours", "tmp", "run"].map(|name| path.join(name));
        for folder in [&server, &ours, &temporary] {
            std::fs::create_dir(folder)?;
        }
        std::fs::DirBuilder::new().mode(0o700).create(&runtime)?;
        Ok(Self { _removed: root, root: path, server, ours, temporary, runtime })
    }

    /// The copies of these folders that belong to the instance, made if they are not there.
    pub(super) fn copies_of(&self, folders: &[PathBuf]) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        let copies = self.root.join("copies");
        if !folders.is_empty() && !copies.is_dir() {
            std::fs::create_dir(&copies)?;
        }
        let copied = |(number, folder): (usize, &PathBuf)| {
            let copy = copies.join(number.to_string());
            if !copy.is_dir() {
                own::copy(folder, &copy)?;
            }
            Ok((folder.clone(), copy))
        };
        folders.iter().enumerate().map(copied).collect()
    }

    /// A folder for us that belongs to one more process of the instance.
    pub(super) fn ours_beside(&self) -> io::Result<PathBuf> {
        for number in 2_u32.. {
            let folder = self.ours.join(number.to_string());
            match std::fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| folder),
            }
        }
        Err(io::Error::other("there is no number left"))
    }
}

/// Puts the folder in place of `{scratch}`.
#[must_use]
pub fn fill(text: &str, scratch: &Path) -> String {
    text.replace("{scratch}", &scratch.to_string_lossy())
}

/// An answer of an instance with `{scratch}` in place of its folder, so that the next instance can be told what it says.
pub(crate) fn unfill_answer(answer: Answer, scratch: &Path) -> Answer {
    let unfilled = |value: &Value| unfill(value, &scratch.to_string_lossy());
    match answer {
        Answer::Result { at, value } => Answer::Result { at, value: unfilled(&value) },
        Answer::Error { at, value } => Answer::Error { at, value: unfilled(&value) },
        missing @ Answer::Missing { .. } => missing,
    }
}

fn unfill(value: &Value, scratch: &str) -> Value {
    match value {
        Value::String(text) if text.contains(scratch) => Value::String(text.replace(scratch, "{scratch}")),
        Value::Array(items) => items.iter().map(|item| unfill(item, scratch)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| (key.replace(scratch, "{scratch}"), unfill(field, scratch)))
            .collect(),
        other => other.clone(),
    }
}

/// The same, in every text of a value.
pub(crate) fn fill_value(value: &Value, scratch: &Path) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, scratch)),
        Value::Array(items) => items.iter().map(|item| fill_value(item, scratch)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, field)| (fill(key, scratch), fill_value(field, scratch))).collect()
        }
        other => other.clone(),
    }
}

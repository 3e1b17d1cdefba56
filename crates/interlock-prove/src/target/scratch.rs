//! The folder that belongs to one instance, and texts that speak of it.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

/// An empty folder for the server and, beside it, one for us and one for what the server takes for temporary: it is killed, and cannot remove
/// it itself. All are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    _root: TempDir,
    pub(crate) server: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) temporary: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        let root = TempDir::with_prefix("interlock-prove-")?;
        // Servers compare paths with what the system tells them, in which links are resolved.
        let path = root.path().canonicalize()?;
        let [server, ours, temporary] = ["scratch", "ours", "tmp"].map(|name| path.join(name));
        for folder in [&server, &ours, &temporary] {
            std::fs::create_dir(folder)?;
        }
        Ok(Self { _root: root, server, ours, temporary })
    }
}

/// Puts the folder in place of `{scratch}`.
#[must_use]
pub fn fill(text: &str, scratch: &Path) -> String {
    text.replace("{scratch}", &scratch.to_string_lossy())
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

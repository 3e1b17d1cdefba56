//! What an interrupted run has measured: a file with one JSON line per server, which the next run reads and goes on with.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    path::Path,
};

use anyhow::{Context, Result};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The results by key, and the file that new ones are added to.
#[derive(Debug, Default)]
pub(super) struct Kept {
    results: BTreeMap<String, Value>,
    file: Option<File>,
}

impl Kept {
    /// Reads what a file holds. A last line that was cut off by the end of a run is measured again.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("failed to read {}", path.display())),
        };
        let mut results = BTreeMap::new();
        let mut whole = String::new();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let (key, result): (String, Value) = serde_json::from_str(line)
                .with_context(|| format!("{} holds a line that is no result: {line}", path.display()))?;
            results.insert(key, result);
            whole.push_str(line);
        }
        if whole.len() < text.len() {
            fs::write(path, &whole).with_context(|| format!("failed to write {}", path.display()))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("failed to write {}", path.display()))?;
        Ok(Self { results, file: Some(file) })
    }

    /// What was measured before under a key.
    pub(super) fn take<R: DeserializeOwned>(&mut self, key: &str) -> Result<Option<R>> {
        let result = self.results.remove(key).map(serde_json::from_value).transpose();
        result.with_context(|| format!("what was kept of {key} is no result of this kind of measurement"))
    }

    /// Keeps a result at once.
    pub(super) fn add(&mut self, key: &str, result: &impl Serialize) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{}", json!([key, result])).context("failed to keep a result")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_taken_up_and_a_line_that_was_cut_off_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.jsonl");
        let mut first = Kept::open(Some(&path)).unwrap();
        assert_eq!(first.take::<u32>("a").unwrap(), None);
        first.add("a", &1).unwrap();
        first.add("b", &2).unwrap();
        let mut text = fs::read_to_string(&path).unwrap();
        text.truncate(text.len() - 2);
        fs::write(&path, text).unwrap();
        let mut second = Kept::open(Some(&path)).unwrap();
        assert_eq!(second.take::<u32>("a").unwrap(), Some(1));
        assert_eq!(second.take::<u32>("b").unwrap(), None);
        second.add("b", &3).unwrap();
        assert_eq!(Kept::open(Some(&path)).unwrap().take::<u32>("b").unwrap(), Some(3));
        assert!(Kept::open(Some(&path)).unwrap().take::<String>("a").is_err());
    }

    #[test]
    fn without_a_file_nothing_is_kept() {
        let mut kept = Kept::open(None).unwrap();
        kept.add("a", &1).unwrap();
        assert_eq!(kept.take::<u32>("a").unwrap(), None);
    }
}

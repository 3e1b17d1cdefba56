//! The instance's folder as a reader: what its files say, as something that can be compared like an answer.
//!
//! A server that loses an update has lost it in a file of its own even where none of its tools would show it. Lines of a text are compared
//! without their order: of two calls that write to one journal, each may write its line first, and between the lines of the other.

use std::{fs, io::Read, path::Path};

use interlock_model::PlannedCall;
use serde_json::{Map, Value, json};

/// What a read is called that is not a call: no tool can have a name with a colon.
pub const FILES: &str = "scratch:";

/// More of a folder is not looked at.
const MOST_FILES: usize = 400;
const MOST_BYTES: u64 = 8 << 20;
const LARGEST: u64 = 1 << 20;
const DEEPEST: usize = 12;

/// Folders of what others made, and endings of what is not the server's state: what it says of itself, and what it holds for a moment.
const FOLDERS: &[&str] = &["node_modules", "__pycache__", ".cache", ".npm", "objects", "logs"];
const ENDINGS: &[&str] = &[".log", ".lock", ".pid", ".sock", ".tmp", "-shm", "-wal", "-journal"];

/// The read of the folder.
#[must_use]
pub fn read_of_files() -> PlannedCall {
    PlannedCall::new(FILES, json!({}))
}

/// Whether a planned read is that of the folder.
#[must_use]
pub fn is_files(call: &PlannedCall) -> bool {
    call.tool == FILES
}

/// What the files in a folder say.
pub(crate) fn read(folder: &Path) -> Value {
    let mut found = Map::new();
    let mut left = MOST_BYTES;
    walk(folder, folder, 0, &mut left, &mut found);
    Value::Object(found)
}

fn walk(root: &Path, folder: &Path, depth: usize, left: &mut u64, found: &mut Map<String, Value>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Links are not followed: they may lead anywhere.
        let Ok(about) = entry.metadata() else { continue };
        let path = entry.path();
        if about.is_dir() {
            if depth < DEEPEST && !FOLDERS.contains(&name.as_str()) {
                walk(root, &path, depth + 1, left, found);
            }
        } else if about.is_file() && !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            if found.len() >= MOST_FILES {
                return;
            }
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let content = if about.len() > LARGEST.min(*left) { Value::Null } else { content(&path, left) };
            found.insert(shown, content);
        }
    }
}

/// JSON as it is, lines sorted; of what is no text only that it is there.
fn content(path: &Path, left: &mut u64) -> Value {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    *left = left.saturating_sub(bytes.len() as u64);
    let (Ok(_), Ok(text)) = (read, String::from_utf8(bytes)) else { return Value::Null };
    if let Ok(value) = serde_json::from_str::<Value>(&text)
        && (value.is_object() || value.is_array())
    {
        return value;
    }
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.sort_unstable();
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_lines_are_sorted_and_what_is_no_state_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("data/notes.json", b"[{\"id\": 1}]");
        write("data/events.jsonl", b"{\"b\":1}\n{\"a\":1}\n");
        write("list.md", b"two\n\none\n");
        write("image.bin", &[0xff, 0xfe, 0x00]);
        write("server.log", b"began");
        write("node_modules/x/index.js", b"");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        assert_eq!(
            read(folder.path()),
            json!({
                "data/events.jsonl": [{"a": 1}, {"b": 1}],
                "data/notes.json": [{"id": 1}],
                "image.bin": null,
                "list.md": ["one", "two"],
            })
        );
    }

    #[test]
    fn a_folder_that_is_too_much_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..MOST_FILES + 50 {
            fs::write(folder.path().join(format!("{at}")), "x").unwrap();
        }
        fs::write(folder.path().join("0"), vec![b'x'; 2 << 20]).unwrap();
        let found = read(folder.path());
        assert_eq!(found.as_object().unwrap().len(), MOST_FILES);
        assert_eq!(found["0"], Value::Null, "too large to be compared");
        assert_eq!(read(Path::new("/no/such/folder")), json!({}));
    }
}

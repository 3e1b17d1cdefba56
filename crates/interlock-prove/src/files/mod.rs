//! The instance's folder as a reader: what its files say, as something that can be compared like an answer.
//!
//! A server that loses an update has lost it in a file of its own even where none of its tools would show it. JSON is compared as a value, a
//! SQLite file by its rows, every other text by its lines, YAML among them. Lists and lines have no order here: of two calls that write to
//! one journal, each may write its line first, and between the lines of the other; what is compared is what is there and how often.

pub(crate) mod seeds;
mod sqlite;
mod steps;

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Read,
    path::{Path, PathBuf},
};

use interlock_model::{Outcome, PlannedCall, Seen};
use serde_json::{Map, Value, json};

pub use self::steps::in_processes;
pub(crate) use self::steps::{lay, processes};

/// What a read is called that is not a call: no tool can have a name with a colon.
pub const FILES: &str = "scratch:";

/// More of a folder is not looked at.
const MOST_FILES: usize = 400;
const MOST_BYTES: u64 = 8 << 20;
const LARGEST: u64 = 1 << 20;
const DEEPEST: usize = 12;

/// Folders of what others made. What a server keeps in a folder for logs or a cache of its own may be its state; what varies there by itself is
/// dropped where it does.
const FOLDERS: &[&str] = &["node_modules", "__pycache__", ".npm"];
/// Folders of a Git repository whose content follows from its references, or has times in it.
const OF_GIT: &[&str] = &["objects", "logs"];
/// Endings of what is not the server's state: what it says of itself, and what it holds for a moment.
const ENDINGS: &[&str] = &[".log", ".lock", ".pid", ".sock", ".swp", "~", "-shm", "-wal", "-journal"];
/// How a part of a file's name begins that is about to take the place of another: whoever was killed or refused leaves it behind, and nobody
/// reads it.
const PASSING: &str = "tmp";
/// As many letters behind it are chance (`.tmpk3f9x2`), fewer are a word (`notes.tmpl`).
const CHANCE: usize = 6;

/// How files of databases are called.
const DATABASES: &[&str] = &[".db", ".sqlite", ".sqlite3", ".db3", ".duckdb"];

/// The read of the folder.
pub(crate) fn read_of_files() -> PlannedCall {
    PlannedCall::new(FILES, json!({}))
}

/// Whether a planned read is that of the folder.
pub(crate) fn is_files(call: &PlannedCall) -> bool {
    call.tool == FILES
}

/// Whether the files of an instance were read and none of them is a database: then the state is in files.
pub(crate) fn are_plain(outcome: &Outcome) -> bool {
    let read = outcome.reads.iter().find_map(|seen| match seen {
        Seen::Result(value) => value.pointer("/structuredContent/scratch:")?.as_object(),
        Seen::Error(_) | Seen::Nothing => None,
    });
    let is_database = |name: &String| DATABASES.iter().any(|ending| name.ends_with(ending));
    read.is_some_and(|files| !files.is_empty() && !files.keys().any(is_database))
}

/// Where two looks at the files of an instance differ: the file, and in a database or a JSON object the table or the field.
pub(crate) fn differences(one: &Seen, two: &Seen) -> Vec<Vec<String>> {
    let files = |seen: &'_ Seen| match seen {
        Seen::Result(value) => {
            value.pointer("/structuredContent/scratch:").and_then(Value::as_object).cloned()
        }
        Seen::Error(_) | Seen::Nothing => None,
    };
    let (Some(one), Some(two)) = (files(one), files(two)) else { return Vec::new() };
    let mut found = Vec::new();
    for name in differing(&one, &two) {
        match (one.get(&name), two.get(&name)) {
            (Some(Value::Object(one)), Some(Value::Object(two))) => {
                found.extend(differing(one, two).into_iter().map(|part| vec![name.clone(), part]));
            }
            _ => found.push(vec![name]),
        }
    }
    found
}

fn differing(one: &Map<String, Value>, two: &Map<String, Value>) -> Vec<String> {
    let names = one.keys().chain(two.keys().filter(|name| !one.contains_key(*name)));
    names.filter(|name| one.get(*name) != two.get(*name)).cloned().collect()
}

/// What the files in an instance's folder say, and those in copies of folders beside the server's code that are not what they were there.
pub(crate) fn read_all(folder: &Path, copies: &[(PathBuf, PathBuf)]) -> Value {
    let mut found = Map::new();
    let mut left = MOST_BYTES;
    walk(folder, folder, 0, &mut left, &mut found);
    for (place, copy) in copies {
        let mut own = Map::new();
        walk(copy, copy, 0, &mut left, &mut own);
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let is_changed = |inside: &str| {
            let (was, is) = (place.join(inside), copy.join(inside));
            let length = |path: &Path| path.metadata().ok().map(|about| about.len());
            length(&was) != length(&is)
                || (length(&is) <= Some(LARGEST) && fs::read(&was).ok() != fs::read(&is).ok())
        };
        let changed = own.into_iter().filter(|(inside, _)| is_changed(inside));
        found.extend(changed.map(|(inside, said)| (format!("…/{name}/{inside}"), said)));
    }
    json!({ FILES: found })
}

fn walk(root: &Path, folder: &Path, depth: usize, left: &mut u64, found: &mut Map<String, Value>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    // Caches are large and rarely the state: what else there is comes before them, as long as there is room.
    entries.sort_by_key(|entry| {
        let name = entry.file_name();
        (name.to_string_lossy().starts_with('.'), name)
    });
    let is_git = folder.join("HEAD").is_file();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Links are not followed: they may lead anywhere.
        let Ok(about) = entry.metadata() else { continue };
        let path = entry.path();
        if found.len() >= MOST_FILES {
            return;
        }
        let shown = || path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if about.is_dir() {
            let is_others = FOLDERS.contains(&name.as_str()) || (is_git && OF_GIT.contains(&name.as_str()));
            if is_others || depth >= DEEPEST {
                continue;
            }
            // An empty folder is there or not, which only its name can say.
            if is_empty(&path) && is_state(&name) {
                found.insert(format!("{}/", shown()), json!({}));
            } else {
                walk(root, &path, depth + 1, left, found);
            }
        } else if about.is_file() && is_state(&name) {
            found.insert(shown(), content(&path, about.len(), left));
        }
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn is_state(name: &str) -> bool {
    let is_passing = |part: &str| {
        part.strip_prefix(PASSING).is_some_and(|rest| {
            let is_word = rest.chars().all(char::is_alphabetic);
            rest.is_empty() || !is_word || rest.chars().count() >= CHANCE
        })
    };
    !name.split('.').skip(1).any(is_passing) && !ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// JSON as it is, rows of a database, lines; of what is no text, or too much, only that it is there.
fn content(path: &Path, length: u64, left: &mut u64) -> Value {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    if sqlite::is_sqlite(&bytes) {
        return sqlite::rows(path).unwrap_or_default();
    }
    if length > LARGEST.min(*left) {
        return Value::Null;
    }
    *left = left.saturating_sub(bytes.len() as u64);
    if read.is_err() {
        return Value::Null;
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return digest(error.as_bytes()),
    };
    if let Ok(value) = serde_json::from_str::<Value>(&text)
        && (value.is_object() || value.is_array())
    {
        return value;
    }
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
    text.lines().filter(|line| !line.trim().is_empty()).map(line).collect()
}

/// How archives begin, office formats among them: the time of writing stands in them.
const ARCHIVE: &[u8] = b"PK";

/// Of what is no text whether it is the same, unless it says when it was written.
fn digest(bytes: &[u8]) -> Value {
    if bytes.starts_with(ARCHIVE) {
        return Value::Null;
    }
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{} bytes, {:016x}", bytes.len(), hasher.finish()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_lines_are_read_and_what_is_no_state_is_left_out() {
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
        write("book.xlsx", &[b'P', b'K', 3, 4, 0xff]);
        write("settings.yaml", b"two: 2\none:\n  - a\n");
        write("server.log", b"began");
        write("notes.json.tmp.77", b"half");
        write("node_modules/x/index.js", b"");
        write("notes.json.tmpk3f9x2a", b"half");
        write(".tmpAbCdEf", b"half");
        write("logs/notes.json", b"{\"a\":1}");
        write("notes.tmpl", b"one");
        write(".cache/state.json", b"{}");
        write("repo/.git/HEAD", b"ref: refs/heads/main");
        write("repo/.git/logs/HEAD", b"1700000000");
        write("repo/.git/objects/ab/cd", b"x");
        fs::create_dir_all(folder.path().join("projects/a")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        assert_eq!(
            read_all(folder.path(), &[]),
            json!({"scratch:": {
                ".cache/state.json": {},
                "book.xlsx": null,
                "data/events.jsonl": [{"b": 1}, {"a": 1}],
                "data/notes.json": [{"id": 1}],
                "image.bin": digest(&[0xff, 0xfe, 0x00]),
                "list.md": ["two", "one"],
                "logs/notes.json": {"a": 1},
                "notes.tmpl": ["one"],
                "projects/a/": {},
                "repo/.git/HEAD": ["ref: refs/heads/main"],
                "settings.yaml": ["two: 2", "one:", "  - a"],
            }})
        );
    }

    #[test]
    fn of_two_looks_only_what_differs_is_named() {
        let look = |rows: Value, text: &str| {
            let files = json!({ "x.db": { "notes": [1], "rates": rows }, "a.md": [text], "b.md": ["same"] });
            Seen::Result(json!({ "structuredContent": { FILES: files } }))
        };
        let differ = |one: &Seen, two: &Seen| {
            differences(one, two).iter().map(|part| part.join("/")).collect::<Vec<_>>()
        };
        assert_eq!(differ(&look(json!([1]), "one"), &look(json!([2]), "two")), ["a.md", "x.db/rates"]);
        assert!(differ(&look(json!([1]), "one"), &look(json!([1]), "one")).is_empty());
        assert!(differ(&Seen::Result(json!({"content": []})), &look(json!([1]), "one")).is_empty());
    }

    #[test]
    fn of_a_copy_only_what_the_server_changed_is_its_state() {
        let (place, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in [&place, &copy] {
            fs::write(folder.path().join("index.js"), "code").unwrap();
            fs::write(folder.path().join("counts.json"), "[1]").unwrap();
        }
        fs::write(copy.path().join("counts.json"), "[2]").unwrap();
        fs::write(copy.path().join("new.json"), "[3]").unwrap();
        let copies = [(PathBuf::from("/x/dist"), copy.path().to_owned())];
        let found = read_all(Path::new("/no/such/folder"), &copies);
        assert_eq!(found[FILES].as_object().unwrap().len(), 3, "nothing is at /x/dist");
        let copies = [(place.path().to_owned(), copy.path().to_owned())];
        let found = read_all(Path::new("/no/such/folder"), &copies);
        let said: Vec<&Value> = found[FILES].as_object().unwrap().values().collect();
        assert_eq!(said, [&json!([2]), &json!([3])]);
    }

    #[test]
    fn a_folder_that_is_too_much_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..MOST_FILES + 50 {
            fs::write(folder.path().join(format!("{at}")), "x").unwrap();
        }
        fs::write(folder.path().join("0"), vec![b'x'; 2 << 20]).unwrap();
        let found = read_all(folder.path(), &[])[FILES].take();
        assert_eq!(found.as_object().unwrap().len(), MOST_FILES);
        assert_eq!(found["0"], Value::Null, "too large to be compared");
        assert_eq!(read_all(Path::new("/no/such/folder"), &[]), json!({ "scratch:": {} }));
    }
}

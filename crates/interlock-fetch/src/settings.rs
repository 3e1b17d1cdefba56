//! Where the sources of a server let the environment say where it keeps files. A server that is proved may write in its own folder only, so it
//! is told to keep them there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// How programs ask for a variable, up to its name.
const ASKED: &[&str] = &[
    "process.env.",
    "process.env['",
    "process.env[\"",
    "os.environ['",
    "os.environ[\"",
    "os.environ.get('",
    "os.environ.get(\"",
    "os.getenv('",
    "os.getenv(\"",
    "os.Getenv(\"",
    "env::var(\"",
    "env::var_os(\"",
];

/// How the names of variables end that say where files are kept, and whether that is a folder.
const PLACES: &[(&str, bool)] = &[
    ("_FILE_PATH", false),
    ("_FILE", false),
    ("_DB_PATH", false),
    ("_DATABASE_PATH", false),
    ("_DB", false),
    ("_DIR", true),
    ("_DIRECTORY", true),
    ("_FOLDER", true),
    ("_PATH", false),
];

/// What the whole system goes by is not the server's own.
const SYSTEM: &[&str] = &[
    "PATH",
    "NODE_PATH",
    "PYTHONPATH",
    "GOPATH",
    "HOME",
    "TMPDIR",
    "XDG_",
    "LD_",
    "npm_",
    "CARGO_",
    "SSL_",
    "NODE_EXTRA",
];

/// Parts of the names of variables that hold the path of a program or of an input file. An empty scratch folder cannot stand in for those.
const READ: &[&str] =
    &["EXECUTABLE", "BINARY", "CHROME", "BROWSER", "CERT", "KEY", "CONFIG", "CREDENTIAL", "TOKEN", "_URL"];

/// So much of a tree is looked at.
const MOST_FILES: usize = 2_000;
const LARGEST: u64 = 1 << 20;
const MOST_SETTINGS: usize = 8;

/// The variables that say where a server keeps its files, each with a place in `{scratch}`.
#[must_use]
pub fn settings(folder: &Path) -> BTreeMap<String, String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    let mut left = MOST_FILES;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir()
                && !name.starts_with('.')
                && !matches!(name.as_str(), "node_modules" | "target" | "test" | "tests")
            {
                folders.push(entry.path());
            }
            let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
            let is_source = matches!(ending, "js" | "mjs" | "cjs" | "ts" | "mts" | "py" | "go" | "rs");
            if !about.is_file() || !is_source || about.len() > LARGEST || left == 0 {
                continue;
            }
            left -= 1;
            if let Ok(text) = fs::read_to_string(entry.path()) {
                collect(&text, &mut names);
            }
        }
    }
    let place = |name: String| {
        let (_, is_folder) = PLACES.iter().find(|(ending, _)| name.ends_with(ending))?;
        let value =
            if *is_folder { "{scratch}".to_owned() } else { format!("{{scratch}}/{}", name.to_lowercase()) };
        Some((name, value))
    };
    names.into_iter().filter_map(place).take(MOST_SETTINGS).collect()
}

fn collect(text: &str, names: &mut BTreeSet<String>) {
    for asked in ASKED {
        for (at, _) in text.match_indices(asked) {
            let Some(rest) = text.get(at + asked.len()..) else { continue };
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
                .take(80)
                .collect();
            let is_system = SYSTEM
                .iter()
                .any(|known| name == *known || (known.ends_with('_') && name.starts_with(known)));
            let is_read = READ.iter().any(|word| name.contains(word));
            if !is_system && !is_read && PLACES.iter().any(|(ending, _)| name.ends_with(ending)) {
                names.insert(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_say_where_files_are_kept_lead_into_the_scratch_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.js"), "x = process.env.MEMORY_FILE_PATH || process.env.PATH; process.env['NOTES_DIR']; process.env.API_KEY").unwrap();
        fs::write(folder.path().join("b.py"), "os.environ.get(\"TODO_DB\", 'x'); os.getenv('XDG_DATA_DIR')")
            .unwrap();
        let found: Vec<(String, String)> = settings(folder.path()).into_iter().collect();
        let expected = [
            ("MEMORY_FILE_PATH", "{scratch}/memory_file_path"),
            ("NOTES_DIR", "{scratch}"),
            ("TODO_DB", "{scratch}/todo_db"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}

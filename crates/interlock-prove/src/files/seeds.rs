//! What lies in an instance's folder before its server is started or called: a folder of the user's own, and small files that a call asks for.

mod office;

use std::{fs, io, path::Path};

use interlock_model::PlannedCall;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::FILES;

/// More of a user's folder is not copied for each instance.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: u64 = 64 << 20;
const DEEPEST: usize = 32;

/// Copies a folder. Links are left out: they may lead anywhere.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut left = (MOST_ENTRIES, MOST_BYTES);
    copy_level(from, to, 0, &mut left)
}

fn copy_level(from: &Path, to: &Path, depth: usize, left: &mut (usize, u64)) -> io::Result<()> {
    let too_much = || {
        let most = MOST_BYTES >> 20;
        io::Error::other(format!(
            "{} is too much for every instance to start with: at most {MOST_ENTRIES} files, {most} MB and {DEEPEST} levels",
            from.display()
        ))
    };
    if depth > DEEPEST {
        return Err(too_much());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (about, target) = (entry.metadata()?, to.join(entry.file_name()));
        let bytes = if about.is_file() { about.len() } else { 0 };
        let rest = (left.0.checked_sub(1), left.1.checked_sub(bytes));
        let (Some(entries), Some(bytes)) = rest else { return Err(too_much()) };
        *left = (entries, bytes);
        if about.is_dir() {
            fs::create_dir_all(&target)?;
            copy_level(&entry.path(), &target, depth + 1, left)?;
        } else if about.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// A file of a kind, in the words that made-up arguments use.
fn content(name: &str) -> Value {
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    match extension {
        "json" => json!({ "note": "alpha beta" }),
        "jsonl" => "{\"note\":\"alpha beta\"}\n".into(),
        "csv" => "id,name\n1,alpha\n2,beta\n".into(),
        "md" | "markdown" => "# alpha\n\nalpha beta\n".into(),
        "html" => "<!doctype html>\n<title>alpha</title>\n<p>alpha beta</p>\n".into(),
        "xml" => "<note>alpha beta</note>\n".into(),
        "yaml" | "yml" => "note: alpha beta\n".into(),
        "py" => "alpha = 'beta'\n".into(),
        "js" | "ts" => "const alpha = 'beta';\n".into(),
        _ => "alpha beta\n".into(),
    }
}

/// Endings of files that are no text, and are not made here.
const NOT_MADE: &[&str] = &["xls", "doc", "ppt", "pdf", "png", "jpg", "jpeg", "gif", "zip", "duckdb"];
/// Endings of files that are no text and are made here.
const MADE: &[&str] = &["xlsx", "xlsm", "docx", "pptx", "db", "db3", "sqlite", "sqlite3"];

/// Makes the file that its name asks for: an office document, a database with a table, or else a text.
pub(super) fn make(path: &Path) -> io::Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "xlsx" | "xlsm" => fs::write(path, office::workbook()),
        "docx" => fs::write(path, office::document()),
        "pptx" => fs::write(path, office::presentation()),
        "db" | "db3" | "sqlite" | "sqlite3" => make_database(path).map_err(io::Error::other),
        _ => {
            let content = content(&path.to_string_lossy());
            fs::write(path, content.as_str().map_or_else(|| content.to_string(), str::to_owned))
        }
    }
}

fn make_database(path: &Path) -> rusqlite::Result<()> {
    // Laid down once more it is as it was.
    let _ = fs::remove_file(path);
    Connection::open(path)?.execute_batch(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value INTEGER NOT NULL DEFAULT 0);\
         INSERT INTO notes (name, value) VALUES ('alpha', 1), ('beta', 2);",
    )
}

/// The step that lays down files of these names, which are relative to the folder; `None` where they are of a kind that is not made here.
pub(crate) fn of_files<'n>(names: impl Iterator<Item = &'n str>) -> Option<PlannedCall> {
    let (mut files, mut made) = (Map::new(), Vec::new());
    for name in names {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        if NOT_MADE.contains(&extension.as_str()) {
            return None;
        }
        if MADE.contains(&extension.as_str()) {
            made.push(name.to_owned());
        } else {
            files.insert(name.to_owned(), content(name));
        }
    }
    let steps = [("write", Value::from(files)), ("make", Value::from(made))];
    let is_some =
        |step: &Value| step.as_object().map_or_else(|| *step != json!([]), |files| !files.is_empty());
    let steps: Map<String, Value> = steps
        .into_iter()
        .filter(|(_, step)| is_some(step))
        .map(|(name, step)| (name.to_owned(), step))
        .collect();
    (!steps.is_empty()).then(|| PlannedCall::new(FILES, Value::Object(steps)))
}

/// The step that makes the folder a Git repository with a file that is not committed yet.
pub(crate) fn of_repository() -> PlannedCall {
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Interlock\n\temail = interlock@example.invalid\n";
    let files = json!({
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/config": config,
        ".git/objects/pack/.keep": "",
        ".git/refs/.keep": "",
        "a.txt": content("a.txt"),
        "b.txt": content("b.txt"),
    });
    PlannedCall::new(FILES, json!({ "write": files }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::lay;

    #[test]
    fn a_folder_is_copied_without_links() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("notes")).unwrap();
        fs::write(from.path().join("notes/a.md"), "one").unwrap();
        std::os::unix::fs::symlink("/etc", from.path().join("link")).unwrap();
        copy(from.path(), to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("notes/a.md")).unwrap(), "one");
        assert!(!to.path().join("link").exists());
        assert!(copy(&from.path().join("none"), to.path()).is_err());
    }

    #[test]
    fn files_are_made_in_their_form_and_others_are_not_made() {
        let step = of_files(["a.json", "b/c.csv"].into_iter()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        lay(&step, folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.json")).unwrap(), "{\"note\":\"alpha beta\"}");
        assert!(fs::read_to_string(folder.path().join("b/c.csv")).unwrap().starts_with("id,name"));
        assert_eq!(of_files(["a.pdf"].into_iter()), None);
        assert_eq!(of_files([].into_iter()), None);
    }

    #[test]
    fn office_files_and_databases_are_made_by_their_endings() {
        let step = of_files(["b/a.XLSX", "a.db", "a.md"].into_iter()).unwrap();
        let steps: Vec<&String> = step.arguments.as_object().unwrap().keys().collect();
        assert_eq!(steps, ["make", "write"]);
        let folder = tempfile::tempdir().unwrap();
        lay(&step, folder.path()).unwrap();
        // Made again on the folder of an earlier instance it is the same, and no error.
        lay(&step, folder.path()).unwrap();
        assert!(fs::read(folder.path().join("b/a.XLSX")).unwrap().starts_with(b"PK"));
        let database = Connection::open(folder.path().join("a.db")).unwrap();
        let names: String =
            database.query_row("SELECT group_concat(name) FROM notes", [], |row| row.get(0)).unwrap();
        assert_eq!(names, "alpha,beta");
    }

    #[test]
    fn git_takes_the_repository_for_one() {
        let folder = tempfile::tempdir().unwrap();
        lay(&of_repository(), folder.path()).unwrap();
        let git = |words: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(words).current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.output().unwrap()
        };
        assert!(git(&["add", "a.txt"]).status.success());
        let committed = git(&["commit", "-m", "one"]);
        assert!(committed.status.success(), "{}", String::from_utf8_lossy(&committed.stderr));
    }
}

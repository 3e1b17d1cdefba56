//! What lies in an instance's folder before its server is started or called: a folder of the user's own, and small files that a call asks for.

use std::{fs, io, path::Path};

use interlock_model::PlannedCall;
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

/// Endings of files that cannot be written as text.
const NOT_TEXT: &[&str] =
    &["xlsx", "docx", "pptx", "pdf", "png", "jpg", "jpeg", "gif", "zip", "db", "sqlite", "sqlite3", "duckdb"];

/// The step that lays down files of these names, which are relative to the folder; `None` where they are of a kind that is not made here.
pub(crate) fn of_files<'n>(names: impl Iterator<Item = &'n str>) -> Option<PlannedCall> {
    let mut files = Map::new();
    for name in names {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        if NOT_TEXT.contains(&extension.to_ascii_lowercase().as_str()) {
            return None;
        }
        files.insert(name.to_owned(), content(name));
    }
    (!files.is_empty()).then(|| PlannedCall::new(FILES, json!({ "write": files })))
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
        assert_eq!(of_files(["a.xlsx"].into_iter()), None);
        assert_eq!(of_files([].into_iter()), None);
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

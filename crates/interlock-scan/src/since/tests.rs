//! Against a real repository.

use std::{fs, process::Command};

use super::*;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]);
    assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/old name.ts"), "one\ntwo\nthree\nfour\nfive\nsix\n").unwrap();
    fs::write(folder.path().join("top.ts"), "one\n").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    folder
}

fn at(file: &str, line: u32) -> Location {
    Location { file: file.into(), line, end_line: line }
}

#[test]
fn changed_renamed_and_new_files_are_known_relative_to_the_scanned_folder() {
    let folder = repository();
    let sub = folder.path().join("sub");
    git(folder.path(), &["mv", "sub/old name.ts", "sub/new name.ts"]);
    fs::write(sub.join("new name.ts"), "one\ntwo\nthree\nFOUR\nfive\nsix\n").unwrap();
    fs::write(sub.join("untracked.ts"), "x\n").unwrap();
    fs::write(folder.path().join("top.ts"), "ONE\n").unwrap();

    let changed = changed(&sub, "HEAD").unwrap();
    assert!(changed.has(&at("new name.ts", 4)));
    assert!(
        !changed.has(&at("new name.ts", 3)) && !changed.has(&at("new name.ts", 5)),
        "a rename is no change"
    );
    assert!(changed.has(&Location { file: "new name.ts".into(), line: 2, end_line: 5 }));
    assert!(changed.has(&at("untracked.ts", 900)));
    assert!(!changed.has(&at("top.ts", 1)), "it is not under the scanned folder");
}

#[test]
fn what_git_cannot_tell_is_a_clear_error() {
    let folder = repository();
    let told = |reference: &str| changed(folder.path(), reference).unwrap_err().to_string();
    assert_eq!(told("--output=/tmp/x"), "`--output=/tmp/x` is no commit: its name begins with a hyphen");
    assert_eq!(
        told("nonsense"),
        "the repository knows no commit `nonsense`; in a shallow clone, fetch it first"
    );
    let nowhere = tempfile::tempdir().unwrap();
    assert!(matches!(changed(nowhere.path(), "HEAD"), Err(SinceError::NoRepository(_))));
}

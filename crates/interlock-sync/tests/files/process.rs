//! Several processes on one root. A test starts itself again, as the other process.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use interlock_sync::files::{Files, Swap};

use crate::{PLENTY, hash, names, read, root};

/// How the second run is told apart from the first, and where its root is.
const ROOT: &str = "INTERLOCK_TEST_ROOT";

/// In the second run, the root.
#[expect(clippy::disallowed_methods, reason = "the second run must be told apart from the first")]
pub(crate) fn second_run() -> Option<PathBuf> {
    env::var_os(ROOT).map(PathBuf::from)
}

/// The command for a second run of this test.
pub(crate) fn again(test: &str, root: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ROOT, root);
    command
}

const EACH: usize = 1000;

fn increment(files: &Files, name: &str) {
    loop {
        let content = files.read(name, PLENTY).unwrap().unwrap();
        let number: usize = String::from_utf8(content.bytes).unwrap().parse().unwrap();
        let new = (number + 1).to_string();
        if let Swap::Done { .. } = files.compare_and_swap(name, content.hash.into(), new.as_bytes()).unwrap()
        {
            return;
        }
    }
}

#[test]
fn two_processes_that_increment_by_compare_and_swap_lose_nothing() {
    if let Some(root) = second_run() {
        let files = Files::open(root).unwrap();
        for _ in 0..EACH {
            increment(&files, "count");
        }
        return;
    }
    let (folder, files) = root();
    files.replace("count", b"0").unwrap();
    let test = "process::two_processes_that_increment_by_compare_and_swap_lose_nothing";
    let mut processes = [(); 2].map(|()| again(test, folder.path()).stdout(Stdio::null()).spawn().unwrap());
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(read(&files, "count"), (2 * EACH).to_string().as_bytes());
    assert_eq!(names(folder.path()), [".interlock", "count"]);
}

#[test]
fn two_openings_in_one_process_exclude_each_other_too() {
    let (folder, files) = root();
    let other = Files::open(folder.path()).unwrap();
    files.replace("count", b"0").unwrap();
    std::thread::scope(|scope| {
        for files in [&files, &files, &other, &other] {
            scope.spawn(move || (0..EACH / 10).for_each(|_| increment(files, "count")));
        }
    });
    assert_eq!(read(&files, "count"), (4 * EACH / 10).to_string().as_bytes());
}

#[test]
fn an_orderly_end_leaves_nothing_that_says_who_was_there() {
    let (folder, files) = root();
    files.replace("a", b"x").unwrap();
    let processes = folder.path().join(".interlock/processes");
    let other = files.clone();
    drop(files);
    assert_eq!(names(&processes).len(), 1);
    assert_eq!(hash(&other, "a"), interlock_sync::files::ContentHash::of(b"x"));
    drop(other);
    assert_eq!(names(&processes).len(), 0);
}

//! Processes that are killed in the middle, and what the next one finds.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::Stdio,
};

use interlock_sync::files::{Created, Files, State, Swap};

use crate::{
    PLENTY, hash, names,
    process::{again, second_run},
    read,
};

/// Large enough that most of the time is spent in the middle of writing.
const SIZE: usize = 256 * 1024;

/// Writes without end, and says after each round that it is done.
#[expect(
    clippy::disallowed_methods,
    reason = "the process that is killed must speak to the one that kills it"
)]
fn write_for_ever(files: &Files) {
    let contents = [b'a', b'b'].map(|letter| vec![letter; SIZE]);
    for (round, content) in contents.iter().cycle().enumerate() {
        files.replace("folder/replaced", content).unwrap();
        assert_eq!(files.create_new(format!("folder/new{round}"), content).unwrap(), Created::New);
        let seen = State::Is(hash(files, "swapped"));
        assert!(matches!(files.compare_and_swap("swapped", seen, content).unwrap(), Swap::Done { .. }));
        // Past the test harness, which keeps what a test prints until it ends.
        std::io::stderr().write_all(b"done\n").unwrap();
    }
}

/// All of the letter, or all of the other.
fn check_whole(content: &[u8], name: &str) {
    assert_eq!(content.len(), SIZE, "{name}");
    assert!(content.iter().all(|byte| Some(byte) == content.first()), "{name}");
}

fn temps(folder: &Path) -> usize {
    names(folder).iter().filter(|name| name.starts_with(".interlock-")).count()
}

#[test]
fn a_process_that_is_killed_leaves_whole_files_and_the_next_start_removes_the_rest() {
    if let Some(root) = second_run() {
        write_for_ever(&Files::open(root).unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let (root, below) = (folder.path(), folder.path().join("folder"));
    let first = Files::open(root).unwrap();
    first.make_folder("folder").unwrap();
    first.replace("swapped", &vec![b'a'; SIZE]).unwrap();
    drop(first);
    let test = "crash::a_process_that_is_killed_leaves_whole_files_and_the_next_start_removes_the_rest";
    for round in 0..20 {
        let mut writer = again(test, root).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(writer.stderr.take().unwrap()).lines();
        assert!(lines.by_ref().take(1 + round % 3).all(|line| line.unwrap() == "done"));
        // Some work of varying length, so that the processes are not all killed at one point.
        std::hint::black_box(interlock_sync::files::ContentHash::of(&vec![0; round * 100_000]));
        writer.kill().unwrap();
        writer.wait().unwrap();

        assert!(temps(root) + temps(&below) <= 1, "at most the one that was being written");
        let next = Files::open(root).unwrap();
        assert_eq!(temps(root) + temps(&below), 0, "the next start removes it");
        assert_eq!(names(&root.join(".interlock/processes")).len(), 1, "ours");
        check_whole(&read(&next, "swapped"), "swapped");
        for entry in next.list("folder").unwrap() {
            let name = format!("folder/{}", entry.name.to_str().unwrap());
            check_whole(&read(&next, &name), &name);
            if name != "folder/replaced" {
                fs::remove_file(root.join(&name)).unwrap();
            }
        }
        // The lock of the one that was killed is free.
        let swap = next.compare_and_swap("swapped", hash(&next, "swapped").into(), &vec![b'c'; SIZE]);
        assert!(matches!(swap.unwrap(), Swap::Done { .. }));
    }
}

#[test]
fn temporary_files_of_the_dead_are_removed_and_those_of_the_living_stay() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let living = Files::open(root).unwrap();
    living.make_folder("a/b").unwrap();
    let [alive] = &names(&root.join(".interlock/processes"))[..] else { panic!("one is there") };
    let (dead, random) = ("0".repeat(32), "1".repeat(32));
    fs::write(root.join(".interlock/processes").join(&dead), "").unwrap();
    let temp = |folder: &str, id: &str| root.join(folder).join(format!(".interlock-{id}-{random}"));
    for folder in ["", "a", "a/b"] {
        fs::write(temp(folder, alive), "").unwrap();
        fs::write(temp(folder, &dead), "").unwrap();
    }
    // Not ours, however similar.
    let similar = root.join("a").join(format!(".interlock-{dead}"));
    fs::write(&similar, "").unwrap();
    // The dead may also have a temporary file behind a link; whose that is nobody knows.
    let outside = tempfile::tempdir().unwrap();
    let far = outside.path().join(format!(".interlock-{dead}-{random}"));
    fs::write(&far, "").unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();

    let next = Files::open(root).unwrap();
    for folder in ["", "a", "a/b"] {
        assert!(temp(folder, alive).exists(), "{folder}");
        assert!(!temp(folder, &dead).exists(), "{folder}");
    }
    assert!(similar.exists() && far.exists());
    assert_eq!(names(&root.join(".interlock/processes")).len(), 2);
    assert_eq!(next.read(".interlock-x", PLENTY).map(drop).unwrap_err().to_string().lines().count(), 1);
}

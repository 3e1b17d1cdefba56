//! What each operation does, and what it refuses.

use std::{fs, os::unix::net::UnixListener, path::Path};

use interlock_sync::files::{
    BadName, ContentHash, Created, Deletion, Entry, Files, FilesError, Kind, State, Swap,
};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::{PLENTY, hash, names, read, root};

const GONE: State = State::Absent;

#[test]
fn a_new_file_is_made_once() {
    let (_folder, files) = root();
    assert_eq!(files.create_new("a", b"first").unwrap(), Created::New);
    assert_eq!(files.create_new("a", b"second").unwrap(), Created::Exists);
    assert_eq!(read(&files, "a"), b"first");
}

#[test]
fn a_file_is_replaced_or_made() {
    let (folder, files) = root();
    files.replace("a", b"old").unwrap();
    files.replace("a", b"").unwrap();
    assert_eq!(read(&files, "a"), b"");
    assert_eq!(names(folder.path()), [".interlock", "a"], "no temporary file stays");
}

#[test]
fn what_is_read_comes_with_its_hash_and_what_is_missing_is_none() {
    let (_folder, files) = root();
    files.replace("a", b"abc").unwrap();
    let content = files.read("a", 3).unwrap().unwrap();
    assert_eq!((content.bytes.as_slice(), content.hash), (&b"abc"[..], ContentHash::of(b"abc")));
    for missing in ["b", "b/c", "a/b"] {
        assert_eq!(files.read(missing, 3).unwrap(), None, "{missing}");
    }
}

#[test]
fn a_file_larger_than_the_limit_is_not_read() {
    let (_folder, files) = root();
    files.replace("a", b"abcd").unwrap();
    let error = files.read("a", 3).unwrap_err();
    assert!(matches!(error, FilesError::TooLarge { limit: 3, .. }), "{error}");
    assert!(files.read("a", 4).unwrap().is_some() && files.read("a", u64::MAX).unwrap().is_some());
}

#[test]
fn a_swap_needs_the_content_that_is_there() {
    let (_folder, files) = root();
    let [a, b] = [b"a", b"b"].map(|content| ContentHash::of(content));
    assert_eq!(files.compare_and_swap("f", a.into(), b"b").unwrap(), Swap::Conflict { found: GONE });
    assert_eq!(files.compare_and_swap("f", GONE, b"a").unwrap(), Swap::Done { hash: a });
    assert_eq!(files.compare_and_swap("f", GONE, b"b").unwrap(), Swap::Conflict { found: a.into() });
    assert_eq!(files.compare_and_swap("f", b.into(), b"b").unwrap(), Swap::Conflict { found: a.into() });
    assert_eq!(files.compare_and_swap("f", a.into(), b"b").unwrap(), Swap::Done { hash: b });
    assert_eq!(read(&files, "f"), b"b");
}

#[test]
fn a_deletion_needs_the_content_that_is_there() {
    let (_folder, files) = root();
    let [a, b] = [b"a", b"b"].map(|content| ContentHash::of(content));
    assert_eq!(files.delete_if("f", a).unwrap(), Deletion::Conflict { found: GONE });
    files.replace("f", b"a").unwrap();
    assert_eq!(files.delete_if("f", b).unwrap(), Deletion::Conflict { found: a.into() });
    assert_eq!(files.delete_if("f", a).unwrap(), Deletion::Done);
    assert_eq!(files.read("f", PLENTY).unwrap(), None);
}

#[test]
fn records_are_appended_to_a_file_that_is_made_if_need_be() {
    let (_folder, files) = root();
    files.append("log", b"one\n").unwrap();
    files.append("log", b"two\n").unwrap();
    files.append("log", b"").unwrap();
    assert_eq!(read(&files, "log"), b"one\ntwo\n");
}

#[test]
fn folders_are_made_with_those_on_the_way_and_files_live_in_them() {
    let (_folder, files) = root();
    let error = files.replace("a/b/f", b"x").unwrap_err();
    assert!(matches!(error, FilesError::NoFolder { .. }), "{error}");
    assert_eq!(
        files.compare_and_swap("a/b/f", ContentHash::of(b"").into(), b"x").unwrap(),
        Swap::Conflict { found: GONE }
    );
    assert_eq!(files.delete_if("a/b/f", ContentHash::of(b"")).unwrap(), Deletion::Conflict { found: GONE });
    files.make_folder("a/b").unwrap();
    files.make_folder("a/b").unwrap();
    assert_eq!(files.create_new("a/b/f", b"x").unwrap(), Created::New);
    files.replace("a/b/f", b"y").unwrap();
    files.append("a/b/f", b"z").unwrap();
    assert_eq!(read(&files, "a/b/f"), b"yz");
    assert_eq!(files.delete_if("a/b/f", hash(&files, "a/b/f")).unwrap(), Deletion::Done);
    let error = files.make_folder("a/b/c/../d").unwrap_err();
    assert!(matches!(error, FilesError::BadName { why: BadName::Dots, .. }), "{error}");
}

#[test]
fn a_folder_lists_what_is_in_it_without_what_is_ours() {
    let (folder, files) = root();
    files.make_folder("b").unwrap();
    files.replace("c", b"").unwrap();
    std::os::unix::fs::symlink("c", folder.path().join("a")).unwrap();
    let entry = |name: &str, kind| Entry { name: name.into(), kind };
    assert_eq!(
        files.list(".").unwrap(),
        [entry("a", Kind::Other), entry("b", Kind::Folder), entry("c", Kind::File)]
    );
    assert_eq!(files.list("b").unwrap(), []);
    for missing in ["d", "c"] {
        let error = files.list(missing).unwrap_err();
        assert!(matches!(error, FilesError::NoFolder { .. }), "{error}");
    }
}

/// Every operation with this path; all must fail.
fn errors(files: &Files, path: &Path) -> [FilesError; 8] {
    [
        files.read(path, PLENTY).map(drop).unwrap_err(),
        files.list(path).map(drop).unwrap_err(),
        files.make_folder(path).unwrap_err(),
        files.create_new(path, b"x").map(drop).unwrap_err(),
        files.replace(path, b"x").unwrap_err(),
        files.append(path, b"x").unwrap_err(),
        files.compare_and_swap(path, GONE, b"x").map(drop).unwrap_err(),
        files.delete_if(path, ContentHash::of(b"secret")).map(drop).unwrap_err(),
    ]
}

#[test]
fn a_path_that_is_no_plain_name_is_refused_by_every_operation() {
    let (folder, files) = root();
    let long = "x".repeat(10_000);
    let absolute = folder.path().join("a");
    let paths =
        ["", "/", "..", "../a", "a/../b", "a/../../b", "./a", "a/.", "a//b", "a/", "a\0b", ".interlock/a"];
    for path in paths.iter().map(Path::new).chain([Path::new(&long), absolute.as_path()]) {
        for error in errors(&files, path) {
            assert!(matches!(error, FilesError::BadName { .. }), "{path:?}: {error}");
        }
    }
    assert_eq!(names(folder.path()), [".interlock"]);
}

#[test]
fn what_is_not_a_regular_file_is_neither_read_nor_replaced_nor_waited_for() {
    let (folder, files) = root();
    files.make_folder("folder").unwrap();
    mkfifoat(CWD, folder.path().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let _listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    let before = names(folder.path());
    for path in ["folder", "pipe", "socket"] {
        let errors = [
            files.read(path, PLENTY).map(drop),
            files.replace(path, b"x"),
            files.append(path, b"x"),
            files.compare_and_swap(path, GONE, b"x").map(drop),
            files.delete_if(path, ContentHash::of(b"")).map(drop),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert!(matches!(error, FilesError::NotAFile { .. }), "{path}: {error}");
        }
        assert_eq!(files.create_new(path, b"x").unwrap(), Created::Exists);
    }
    assert_eq!(names(folder.path()), before);
}

#[test]
fn a_root_that_is_missing_or_no_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for root in ["missing", "file"] {
        assert!(Files::open(folder.path().join(root)).is_err(), "{root}");
    }
}

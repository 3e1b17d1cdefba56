//! Trees that nobody has vouched for.

use std::{fs, path::PathBuf, sync::Mutex};

use expect_test::expect;

use super::{notes, places, put, request, scan_toys, scanned, tree};
use crate::{Phase, Progress, ScanError};

const FIND: &str = "find lost-update\n";

#[test]
fn a_file_that_cannot_be_read_costs_only_itself() {
    let folder = tree(&[("good.toy", FIND), ("bom.toy", "\u{feff}find lost-update\n"), ("empty.toy", "")]);
    put(folder.path(), "bytes.toy", b"find lost-update\n\xff\xfe");
    put(folder.path(), "huge.toy", &vec![b'x'; 50 << 20]);
    put(folder.path(), "line.toy", &vec![b'x'; 2 << 20]);
    put(folder.path(), "failing.toy", b"panic");
    let scanned = scanned(folder.path());
    assert_eq!(places(&scanned), ["bom.toy:1 lost-update", "good.toy:1 lost-update"]);
    expect![[r#"
        left out: minified files (1 file)
        not scanned: bytes.toy: is no UTF-8
        not scanned: failing.toy: its front end failed, which is a mistake of ours: please report it
        not scanned: huge.toy: is larger than 4 MiB
    "#]]
    .assert_eq(&notes(&scanned));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_closed_folders_are_noted_and_the_rest_is_scanned() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let outside = tree(&[("secret.toy", FIND)]);
    let folder = tree(&[("good.toy", FIND), ("sub/also.toy", FIND), ("closed/in.toy", FIND)]);
    let at = |path: &str| folder.path().join(path);
    symlink(folder.path(), at("sub/loop")).unwrap();
    symlink(at("circle.toy"), at("circle.toy")).unwrap();
    symlink(outside.path(), at("outside")).unwrap();
    symlink(outside.path().join("secret.toy"), at("secret.toy")).unwrap();
    symlink(at("nothing"), at("dangling.toy")).unwrap();
    symlink(at("good.toy"), at("inside.toy")).unwrap();
    for pipe in ["pipe.toy", ".gitignore", "package.json"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, at(pipe), rustix::fs::Mode::RWXU).unwrap();
    }
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let scanned = scanned(folder.path());
    let notes = notes(&scanned);
    // Who may read everything finds the folder open; it must be one or the other.
    let open = fs::read_dir(at("closed")).is_ok();
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut expected = vec!["good.toy:1 lost-update", "sub/also.toy:1 lost-update"];
    if open {
        expected.insert(0, "closed/in.toy:1 lost-update");
    }
    assert_eq!(places(&scanned), expected);
    assert_eq!(notes.contains("not scanned: closed: permission denied\n"), !open, "{notes}");
    let notes = notes.replace("not scanned: closed: permission denied\n", "");
    expect![[r#"
        not scanned: circle.toy: is a link that leads in a circle
        not scanned: dangling.toy: is a link to nothing
        not scanned: outside: is a link out of the scanned folder
        not scanned: pipe.toy: is no regular file
        not scanned: secret.toy: is a link out of the scanned folder
        not scanned: sub/loop: is a link to a folder around it
    "#]]
    .assert_eq(&notes);
}

#[test]
fn a_name_that_is_no_utf8_is_noted() {
    #[cfg(target_os = "linux")]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let folder = tree(&[("good.toy", FIND)]);
        fs::write(folder.path().join(OsStr::from_bytes(b"bad\xff.toy")), FIND).unwrap();
        let scanned = scanned(folder.path());
        assert_eq!(places(&scanned), ["good.toy:1 lost-update"]);
        assert_eq!(notes(&scanned), "not scanned: bad\u{fffd}.toy: its name is no UTF-8\n");
    }
}

/// Removes files between the walk and the reading.
struct Remove(Mutex<Vec<PathBuf>>);

impl Progress for Remove {
    fn reached(&self, phase: Phase) {
        if matches!(phase, Phase::Found(_)) {
            for path in self.0.lock().unwrap().drain(..) {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn a_file_that_vanishes_during_the_scan_is_noted() {
    let folder = tree(&[("a.toy", FIND), ("b.toy", FIND), ("package.json", "{}")]);
    let gone = ["a.toy", "package.json"].map(|name| folder.path().join(name));
    let remove = Remove(Mutex::new(gone.to_vec()));
    let scanned = scan_toys(&request(&[folder.path().to_owned()]), &remove).unwrap();
    assert_eq!(places(&scanned), ["b.toy:1 lost-update"]);
    expect![[r#"
        not scanned: a.toy: vanished during the scan
        not scanned: package.json: vanished during the scan
    "#]]
    .assert_eq(&notes(&scanned));
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let folder = tree(&[]);
    let error = scan_toys(&request(&[folder.path().join("nothing")]), &()).unwrap_err();
    assert!(matches!(error, ScanError::Walk(_)));
    assert!(error.to_string().starts_with("there is no `"), "{error}");
}

#[test]
fn one_thread_and_many_find_the_same() {
    let files: Vec<(String, String)> =
        (0..200).map(|n| (format!("f{n}/{}.toy", n % 7), FIND.repeat(n % 4))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let folder = tree(&files);
    let with = |threads| {
        let mut request = request(&[folder.path().to_owned()]);
        request.threads = std::num::NonZeroUsize::new(threads);
        scan_toys(&request, &()).unwrap().report
    };
    let one = with(1);
    assert_eq!(one.findings.len(), 150, "one for each file that has any: its functions are called alike");
    assert_eq!(one, with(2));
    assert_eq!(one, with(8));
}

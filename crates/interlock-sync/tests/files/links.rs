//! Links that lead out of the root, lying there and swapped in while operations run.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use interlock_sync::files::{ContentHash, Created, Files, FilesError, State};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use crate::{PLENTY, names, root};

const SECRET: &[u8] = b"secret";

/// A folder outside the root, with a secret in it.
fn outside() -> TempDir {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), SECRET).unwrap();
    outside
}

fn check_untouched(outside: &TempDir) {
    assert_eq!(names(outside.path()), ["f"]);
    assert_eq!(fs::read(outside.path().join("f")).unwrap(), SECRET);
}

/// Every operation with this path; says which were refused because of a link. The contents that are read must be from inside.
fn try_all(files: &Files, path: &str, round: usize) -> usize {
    let new = format!("{path}{round}");
    let results = [
        files.read(path, PLENTY).map(|content| {
            assert!(content.is_none_or(|content| !content.bytes.starts_with(SECRET)), "read from outside");
        }),
        files.replace(path, b"inside"),
        files.append(path, b"+"),
        files.compare_and_swap(path, ContentHash::of(SECRET).into(), b"stolen").map(|swap| {
            assert!(!matches!(swap, interlock_sync::files::Swap::Done { .. }), "swapped outside");
        }),
        files.delete_if(path, ContentHash::of(SECRET)).map(|deletion| {
            assert_ne!(deletion, interlock_sync::files::Deletion::Done, "deleted outside");
        }),
        files.create_new(&new, b"inside").map(|created| assert_eq!(created, Created::New)),
    ];
    let refused = |result: &Result<(), FilesError>| match result {
        Ok(()) => false,
        Err(FilesError::Link { .. }) => true,
        Err(error) => panic!("{error}: {error:?}"),
    };
    results.iter().filter(|result| refused(result)).count()
}

/// Swaps two names for each other, again and again, until `act` is done.
fn while_swapping(one: &Path, other: &Path, act: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        acted.unwrap();
    });
}

#[test]
fn a_link_is_followed_by_no_operation_wherever_it_leads() {
    let (folder, files) = root();
    let outside = outside();
    fs::create_dir(folder.path().join("inside")).unwrap();
    fs::write(folder.path().join("inside/f"), SECRET).unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    symlink("inside", folder.path().join("in")).unwrap();
    symlink(outside.path().join("f"), folder.path().join("file")).unwrap();
    symlink("/proc/self/root", folder.path().join("magic")).unwrap();
    symlink("/proc/self/fd", folder.path().join("inside/magic")).unwrap();
    for path in ["out/f", "in/f", "magic/etc", "inside/magic/0"] {
        assert_eq!(try_all(&files, path, 0), 6, "{path}");
        assert!(matches!(files.make_folder(format!("{path}/g")), Err(FilesError::Link { .. })), "{path}");
    }
    for path in ["out", "in", "file"] {
        let errors = [
            files.read(path, PLENTY).map(drop),
            files.replace(path, b"x"),
            files.append(path, b"x"),
            files.compare_and_swap(path, State::Absent, b"x").map(drop),
            files.delete_if(path, ContentHash::of(SECRET)).map(drop),
            files.make_folder(path),
            files.list(path).map(drop),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert!(matches!(error, FilesError::Link { .. }), "{path}: {error}");
        }
        assert_eq!(files.create_new(path, b"x").unwrap(), Created::Exists);
    }
    check_untouched(&outside);
    assert_eq!(fs::read(folder.path().join("inside/f")).unwrap(), SECRET);
}

#[test]
fn a_folder_that_is_swapped_for_a_link_meanwhile_never_leads_outside() {
    let (folder, files) = root();
    let outside = outside();
    let (real, link) = (folder.path().join("folder"), folder.path().join("other"));
    fs::create_dir(&real).unwrap();
    symlink(outside.path(), &link).unwrap();
    let (mut rounds, mut refused) = (0, 0);
    while_swapping(&real, &link, || {
        // Until the link was met often and the folder was met often.
        while rounds < 300 || refused < 300 || rounds * 6 - refused < 300 {
            refused += try_all(&files, "folder/f", rounds);
            rounds += 1;
        }
    });
    check_untouched(&outside);
}

#[test]
fn a_file_that_is_swapped_for_a_link_meanwhile_never_leads_outside() {
    let (folder, files) = root();
    let outside = outside();
    let (real, link) = (folder.path().join("f"), folder.path().join("other"));
    fs::write(&real, "inside").unwrap();
    symlink(outside.path().join("f"), &link).unwrap();
    while_swapping(&real, &link, || {
        let (mut rounds, mut refused) = (0, 0);
        while rounds < 300 || refused < 100 {
            refused += try_all(&files, "f", rounds);
            rounds += 1;
            if fs::symlink_metadata(&link).unwrap().file_type().is_file()
                && fs::symlink_metadata(&real).unwrap().file_type().is_file()
            {
                // A replacement has removed the link, which it may; put a new one there.
                let fresh = folder.path().join("fresh");
                symlink(outside.path().join("f"), &fresh).unwrap();
                fs::rename(&fresh, &link).unwrap();
            }
        }
    });
    check_untouched(&outside);
}

#[test]
fn the_same_swaps_lead_a_check_and_a_use_of_the_path_outside() {
    let folder = tempfile::tempdir().unwrap();
    let outside = outside();
    let (real, link) = (folder.path().join("folder"), folder.path().join("other"));
    fs::create_dir(&real).unwrap();
    fs::write(real.join("f"), "inside").unwrap();
    symlink(outside.path(), &link).unwrap();
    while_swapping(&real, &link, || {
        let path = real.join("f");
        let checked_and_read = || {
            let resolved = path.canonicalize().ok()?;
            resolved.starts_with(folder.path().canonicalize().ok()?).then(|| fs::read(&path).ok())?
        };
        while checked_and_read().is_none_or(|content| content != SECRET) {}
    });
}

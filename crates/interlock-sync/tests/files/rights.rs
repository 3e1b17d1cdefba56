//! Who may read the files: permission bits of new files and of replaced ones.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use interlock_sync::files::{Created, State, Swap};

use crate::{hash, read, root};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_new_file_is_for_its_owner_alone() {
    let (folder, files) = root();
    assert_eq!(files.create_new("a", b"").unwrap(), Created::New);
    files.replace("b", b"").unwrap();
    files.append("c", b"x").unwrap();
    assert!(matches!(files.compare_and_swap("d", State::Absent, b"").unwrap(), Swap::Done { .. }));
    for name in ["a", "b", "c", "d"] {
        assert_eq!(mode(&folder.path().join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_mode_that_is_given_is_the_mode_of_new_files_whatever_the_umask() {
    let (folder, files) = root();
    let files = files.with_mode(0o6666);
    assert_eq!(files.create_new("a", b"").unwrap(), Created::New);
    files.append("b", b"x").unwrap();
    for name in ["a", "b"] {
        assert_eq!(mode(&folder.path().join(name)), 0o666, "{name}");
    }
}

#[test]
fn a_replaced_file_keeps_its_permissions_but_not_set_user_id() {
    let (folder, files) = root();
    let path = folder.path().join("a");
    for (given, kept) in [(0o640, 0o640), (0o444, 0o444), (0o4755, 0o755)] {
        for swap in [false, true] {
            files.replace("a", b"old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(given)).unwrap();
            if swap {
                let swap = files.compare_and_swap("a", hash(&files, "a").into(), b"new").unwrap();
                assert!(matches!(swap, Swap::Done { .. }));
            } else {
                files.replace("a", b"new").unwrap();
            }
            assert_eq!(mode(&path), kept);
        }
    }
}

#[test]
fn another_name_of_a_replaced_file_keeps_the_old_content() {
    let (folder, files) = root();
    files.replace("a", b"old").unwrap();
    fs::hard_link(folder.path().join("a"), folder.path().join("b")).unwrap();
    files.replace("a", b"new").unwrap();
    assert_eq!(read(&files, "b"), b"old");
}

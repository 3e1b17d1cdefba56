//! A disk that takes no more. A limit on the size of files stands in for it, because it needs no other disk and no other rights.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
};

use interlock_sync::files::{ContentHash, Files, FilesError};

use crate::{
    PLENTY, names,
    process::{again, second_run},
    read, root,
};

/// Larger than the limit.
const TOO_MUCH: usize = 1 << 20;

fn check_failed(result: Result<(), FilesError>) {
    let error = result.unwrap_err();
    let FilesError::Io { source, .. } = &error else { panic!("{error}") };
    let kinds = [io::ErrorKind::FileTooLarge, io::ErrorKind::StorageFull];
    assert!(kinds.contains(&source.kind()), "{source}");
}

/// The command with a limit of some 64 blocks, and without the signal that would end it.
fn limited(command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    limited
}

fn write_too_much(root: &Path) {
    let files = Files::open(root).unwrap();
    let content = vec![b'x'; TOO_MUCH];
    check_failed(files.replace("a", &content));
    check_failed(files.compare_and_swap("a", ContentHash::of(b"old").into(), &content).map(drop));
    check_failed(files.create_new("b", &content).map(drop));
    check_failed(files.append("a", &content));
    check_failed(files.append("c", &content));
}

#[test]
fn when_the_disk_is_full_the_old_file_stays_and_nothing_else_does() {
    if let Some(root) = second_run() {
        return write_too_much(&root);
    }
    let (folder, files) = root();
    files.replace("a", b"old").unwrap();
    let test = "full::when_the_disk_is_full_the_old_file_stays_and_nothing_else_does";
    let status = limited(&again(test, folder.path())).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(read(&files, "a"), b"old");
    assert_eq!(names(folder.path()), [".interlock", "a"]);
    assert_eq!(files.read("c", PLENTY).unwrap(), None);
}

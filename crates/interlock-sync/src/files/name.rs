//! Which paths name a file here. Judged by the bytes, before any system call, so that a refusal says why.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::FilesError;

/// What our own files begin with: the folder `.interlock` and the temporary files. Nobody else may use such names, because the
/// temporary ones are removed.
pub(super) const OURS: &[u8] = b".interlock";

/// The kernel's limits, the closing zero counted.
const LONGEST_PATH: usize = 4096;
const LONGEST_PIECE: usize = 255;

/// Why a path names no file here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadName {
    /// There is nothing, or nothing between two slashes or behind the last.
    #[error("a piece of it is empty")]
    Empty,
    /// It begins at the root of the machine.
    #[error("it is absolute")]
    Absolute,
    /// It has a piece `.` or `..`.
    #[error("it has a piece `.` or `..`")]
    Dots,
    /// It has a zero byte.
    #[error("it has a zero byte")]
    Nul,
    /// The path or a piece of it is longer than the system can take.
    #[error("it is too long")]
    TooLong,
    /// It has a piece that begins with `.interlock`.
    #[error("names that begin with `.interlock` are reserved")]
    Reserved,
}

/// A path that names a file here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) path: &'a Path,
    /// The folder, if it is not the root itself.
    pub(super) folder: Option<&'a Path>,
    pub(super) last: &'a OsStr,
}

impl<'a> Name<'a> {
    pub(super) fn parse(path: &'a Path) -> Result<Self, FilesError> {
        let bad = |why| FilesError::BadName { path: path.to_owned(), why };
        let bytes = path.as_os_str().as_bytes();
        judge(bytes).map_err(bad)?;
        let (folder, last) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => {
                let (folder, last) = bytes.split_at(slash);
                (Some(Path::new(OsStr::from_bytes(folder))), last.get(1..).unwrap_or_default())
            }
            None => (None, bytes),
        };
        Ok(Self { path, folder, last: OsStr::from_bytes(last) })
    }

    /// The folders on the way, the outermost first, and the path itself.
    pub(super) fn steps(self) -> Vec<&'a Path> {
        let mut steps: Vec<&Path> =
            self.path.ancestors().filter(|step| !step.as_os_str().is_empty()).collect();
        steps.reverse();
        steps
    }

    pub(super) fn to_path_buf(self) -> PathBuf {
        self.path.to_owned()
    }
}

fn judge(path: &[u8]) -> Result<(), BadName> {
    if path.contains(&0) {
        return Err(BadName::Nul);
    }
    if path.first() == Some(&b'/') {
        return Err(BadName::Absolute);
    }
    if path.len() >= LONGEST_PATH {
        return Err(BadName::TooLong);
    }
    path.split(|byte| *byte == b'/').try_for_each(|piece| match piece {
        b"" => Err(BadName::Empty),
        b"." | b".." => Err(BadName::Dots),
        piece if piece.len() > LONGEST_PIECE => Err(BadName::TooLong),
        piece if piece.starts_with(OURS) => Err(BadName::Reserved),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_relative_paths_are_names() {
        for path in ["a", "a.txt", "a/b/c", "...", "a..b", ".hidden", "a b", "ä/ö", "-rf", "a\\..\\b", "a\nb"]
        {
            assert_eq!(judge(path.as_bytes()), Ok(()), "{path:?}");
        }
        assert_eq!(judge(b"\xff\xfe"), Ok(()));
        assert_eq!(judge("x".repeat(255).as_bytes()), Ok(()));
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        let table = [
            ("", BadName::Empty),
            ("a/", BadName::Empty),
            ("a//b", BadName::Empty),
            ("/", BadName::Absolute),
            ("/etc/passwd", BadName::Absolute),
            ("//a", BadName::Absolute),
            (".", BadName::Dots),
            ("./a", BadName::Dots),
            ("a/./b", BadName::Dots),
            ("..", BadName::Dots),
            ("../a", BadName::Dots),
            ("a/../../b", BadName::Dots),
            ("a/..", BadName::Dots),
            ("a\0", BadName::Nul),
            ("/\0", BadName::Nul),
            (".interlock", BadName::Reserved),
            (".interlock/locks/00", BadName::Reserved),
            ("a/.interlock-0123", BadName::Reserved),
        ];
        for (path, why) in table {
            assert_eq!(judge(path.as_bytes()), Err(why), "{path:?}");
        }
        assert_eq!(judge("x".repeat(256).as_bytes()), Err(BadName::TooLong));
        assert_eq!(judge("x/".repeat(2048).as_bytes()), Err(BadName::TooLong));
        assert_eq!(judge("x".repeat(10_000).as_bytes()), Err(BadName::TooLong));
    }

    #[test]
    fn a_name_is_taken_apart_into_folder_and_last_piece() {
        let name = Name::parse(Path::new("a/b/c")).unwrap();
        assert_eq!((name.folder, name.last), (Some(Path::new("a/b")), OsStr::new("c")));
        assert_eq!(name.steps(), [Path::new("a"), Path::new("a/b"), Path::new("a/b/c")]);
        let name = Name::parse(Path::new("c")).unwrap();
        assert_eq!((name.folder, name.last), (None, OsStr::new("c")));
    }
}

//! A temporary file that becomes another one by a rename, or is removed, whatever happens in between.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, fchmod, linkat, openat, renameat, renameat_with, unlinkat},
    io::Errno,
};

use super::{instance::Instance, root::Folder};

/// A temporary file whose content is complete and flushed.
pub(super) struct Temp<'a> {
    folder: BorrowedFd<'a>,
    name: String,
    /// It has its new name, so there is nothing to remove.
    renamed: bool,
}

impl<'a> Temp<'a> {
    /// Makes one beside the file that it shall become: only within one file system is a rename possible, and atomic.
    pub(super) fn write(
        folder: &'a Folder<'_>,
        instance: &Instance,
        mode: Mode,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let name = instance.temp_name()?;
        let private = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, &name, flags, private)?);
        let temp = Self { folder: folder.as_fd(), name, renamed: false };
        fill(&mut file)?;
        if mode != private {
            // Only now, so that nobody whom the old content was kept from reads half of the new. And not by `open`, which would
            // apply the umask.
            fchmod(&file, mode)?;
        }
        file.sync_all()?;
        Ok(temp)
    }

    /// Puts it in the place of whatever has that name.
    pub(super) fn rename_over(mut self, last: &OsStr) -> Result<(), Errno> {
        renameat(self.folder, &self.name, self.folder, last)?;
        self.renamed = true;
        Ok(())
    }

    /// Gives it a name that nothing has; false if something has it.
    pub(super) fn rename_new(mut self, last: &OsStr) -> Result<bool, Errno> {
        match renameat_with(self.folder, &self.name, self.folder, last, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.renamed = true;
                Ok(true)
            }
            Err(Errno::EXIST) => Ok(false),
            // The file system does not know how.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.link_new(last),
            Err(errno) => Err(errno),
        }
    }

    /// The same in two steps: a second name is just as exclusive, and the first is removed afterwards.
    fn link_new(self, last: &OsStr) -> Result<bool, Errno> {
        match linkat(self.folder, &self.name, self.folder, last, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // If even this fails, the next start removes it.
            let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, path::Path};

    use super::*;
    use crate::files::Files;

    /// Makes a temporary file in a new root, does something with it, and says what is in the root afterwards.
    fn left_by(act: impl FnOnce(&Path, io::Result<Temp<'_>>)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let root = Folder::Root(files.shared.root.as_fd());
        let fill = |file: &mut File| file.write_all(b"new");
        act(folder.path(), Temp::write(&root, &files.shared.instance, files.mode, fill));
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_temporary_file_that_is_given_up_is_removed() {
        assert_eq!(left_by(|_, temp| drop(temp.unwrap())), [".interlock"]);
    }

    #[test]
    fn on_file_systems_without_an_exclusive_rename_a_second_name_does_it() {
        let left = left_by(|root, temp| {
            assert_eq!(temp.unwrap().link_new(OsStr::new("a")), Ok(true));
            assert_eq!(fs::read(root.join("a")).unwrap(), b"new");
        });
        assert_eq!(left, [".interlock", "a"]);
        let left = left_by(|root, temp| {
            fs::write(root.join("a"), "old").unwrap();
            assert_eq!(temp.unwrap().link_new(OsStr::new("a")), Ok(false));
            assert_eq!(fs::read(root.join("a")).unwrap(), b"old");
        });
        assert_eq!(left, [".interlock", "a"]);
    }

    #[test]
    fn a_write_that_fails_or_panics_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let root = Folder::Root(files.shared.root.as_fd());
        let write = |fill: fn(&mut File) -> io::Result<()>| {
            Temp::write(&root, &files.shared.instance, files.mode, fill).err()
        };
        let full = |file: &mut File| {
            file.write_all(b"half")?;
            Err(Errno::NOSPC.into())
        };
        assert_eq!(write(full).unwrap().kind(), io::ErrorKind::StorageFull);
        let panics = std::panic::AssertUnwindSafe(|| write(|_| panic!("on purpose")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only `.interlock` is there");
    }
}

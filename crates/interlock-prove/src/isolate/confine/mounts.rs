//! Every file system read-only, except for a few folders: in a mount namespace of our own, so that nobody else notices.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use rustix::{
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
        mount_remount,
    },
};

use super::{files::SHARED_MEMORY, is_below, named};

/// What is mounted, as this process sees it.
const LISTED: &str = "/proc/self/mountinfo";

/// Devices that hold nothing. All others cannot be opened: a read-only mount does not keep anybody from writing to a disk.
const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Where processes are listed.
const PROCESSES: &str = "/proc";

/// Terminals are devices, and are made as they are asked for.
const TERMINALS: &str = "/dev/pts";

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    at: PathBuf,
    flags: MountFlags,
}

/// Makes everything read-only but these folders, lays copies over others, gives devices and shared memory of one's own, and keeps it from spreading.
pub(super) fn make_read_only(writable: &[PathBuf], laid_over: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(named("mounts of its own"))?;
    let mut kept: Vec<PathBuf> = writable.to_vec();
    for folder in writable {
        mount_bind_recursive(folder, folder).map_err(named("a writable folder"))?;
    }
    for (folder, copy) in laid_over {
        mount_bind(copy, folder).map_err(named("a copy of a folder"))?;
        kept.push(folder.clone());
    }
    for device in DEVICES.iter().filter(|device| Path::new(device).exists()) {
        mount_bind(*device, *device).map_err(named("a device"))?;
        kept.push(PathBuf::from(device));
    }
    if Path::new(SHARED_MEMORY).is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, None).map_err(named("shared memory of its own"))?;
        kept.push(PathBuf::from(SHARED_MEMORY));
    }
    remount(|at| at != Path::new(PROCESSES) && !is_below(at, &kept))
}

/// The same for the list of processes, which has to be written until a process is itself in its namespace.
pub(super) fn make_processes_read_only() -> io::Result<()> {
    remount(|at| at == Path::new(PROCESSES))
}

/// Makes mounts read-only.
fn remount(wanted: impl Fn(&Path) -> bool) -> io::Result<()> {
    let listed = fs::read(LISTED)?;
    for Mounted { at, flags } in read(&listed).into_iter().filter(|mounted| wanted(&mounted.at)) {
        // What a mount does not allow already may not be allowed again, so its own flags are repeated.
        let mut flags_now = flags | MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID;
        flags_now.set(MountFlags::NODEV, at != Path::new(TERMINALS) || flags.contains(MountFlags::NODEV));
        match mount_remount(&at, flags_now, "") {
            Ok(()) => {}
            // Covered by another mount, or in a folder that this user cannot enter: out of the server's reach too.
            Err(Errno::NOENT | Errno::ACCESS | Errno::INVAL) if !is_open(&at) => {}
            Err(error) => {
                let why = format!("the kernel does not make {} read-only: {error}", at.display());
                return Err(io::Error::new(io::Error::from(error).kind(), why));
            }
        }
    }
    Ok(())
}

/// Whether a mount is what one finds at its path, and can be entered.
fn is_open(at: &Path) -> bool {
    at.metadata().is_ok()
}

/// The mounts of a list: number, parent, device, root, mount point, flags, and more that does not matter here.
fn read(listed: &[u8]) -> Vec<Mounted> {
    let line = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ').skip(4);
        let at = PathBuf::from(OsString::from_vec(unescaped(words.next()?)));
        let flags = words.next()?.split(|byte| *byte == b',').filter_map(flag).collect();
        Some(Mounted { at, flags })
    };
    listed.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn flag(word: &[u8]) -> Option<MountFlags> {
    Some(match word {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        b"nosymfollow" => MountFlags::NOSYMFOLLOW,
        _ => return None,
    })
}

/// Spaces and the like are written as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let octal = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok();
        match (first, behind.split_at_checked(3)) {
            (b'\\', Some((digits, after))) if octal(digits).is_some() => {
                bytes.extend(octal(digits));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_mounts_is_read_with_its_flags_and_odd_names() {
        let listed = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:33 / /mnt/a\\040b\\134c ro,nosuid,nodev - tmpfs tmpfs rw\n\nbad line\n";
        let mounted = read(listed);
        assert_eq!(mounted.len(), 2, "{mounted:?}");
        assert_eq!(mounted[0], Mounted { at: "/".into(), flags: MountFlags::RELATIME });
        assert_eq!(mounted[1].at, Path::new("/mnt/a b\\c"));
        assert_eq!(mounted[1].flags, MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV);
    }

    #[test]
    fn an_escape_that_is_none_stays_as_it_is() {
        assert_eq!(unescaped(b"a\\"), b"a\\");
        assert_eq!(unescaped(b"a\\9zz"), b"a\\9zz");
    }
}

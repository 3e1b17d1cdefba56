//! Sockets with a path: whoever listens on one of the user's (an agent, a container engine, a session bus) can be asked to do what the
//! kernel refuses the server itself. Neither a network of one's own nor a read-only mount closes them, so each is covered by an empty file.
//! Those in abstract names belong to the network and are out of reach with it.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use rustix::mount::mount_bind;

use super::{is_below, named};

/// All that are bound in this network, as the kernel lists them.
const LISTED: &str = "/proc/net/unix";

/// An empty file that is there on every system and cannot be connected to.
const COVER: &str = "/dev/null";

/// The sockets of this machine that do not belong to the instance.
pub(super) fn of_others(own: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let listed = fs::read_to_string(LISTED)?;
    // Seven columns, then the path, which may have spaces in it.
    let path = |line: &str| {
        line.split_whitespace()
            .nth(7)
            .and_then(|path| line.find(path))
            .map(|at| line.split_at(at).1.to_owned())
    };
    let paths: BTreeSet<PathBuf> = listed.lines().filter_map(path).map(PathBuf::from).collect();
    let is_socket = |path: &Path| path.metadata().is_ok_and(|about| about.file_type().is_socket());
    Ok(paths
        .into_iter()
        .filter_map(|path| path.is_absolute().then(|| path.canonicalize().ok())?)
        .filter(|path| !is_below(path, own) && is_socket(path))
        .collect())
}

/// Covers them.
pub(super) fn hide(sockets: &[PathBuf]) -> io::Result<()> {
    for socket in sockets {
        match mount_bind(COVER, socket) {
            Ok(()) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS) => {}
            Err(error) => return Err(named("a cover for a socket")(error)),
        }
    }
    Ok(())
}

//! Confinement: a process gives up what the server that it is about to become shall not have, and becomes it.
//!
//! `unsafe` is forbidden here, so nothing can be done between fork and exec. Instead the program starts itself through a hidden verb, which
//! calls [`become_confined`]: it restricts itself and then executes the server in its own place. Children inherit all of it, and nobody
//! below can take it back.
//!
//! Two layers for files, because neither covers all. Landlock refuses writing, creating, truncating, renaming, linking and deleting, and also
//! device files; it does not know modes, owners, times and attributes. Read-only mounts in a namespace of our own refuse those too, but no
//! device files. Both are needed for *refused*; see [`Kernel`](super::Kernel).

mod check;
mod files;
mod mounts;
mod network;
mod owner;
mod sockets;

use std::{
    convert::Infallible,
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

use nix::sched::{CloneFlags, unshare};
use rustix::thread::set_no_new_privs;

pub use self::check::check;
use super::Layers;

/// What a process is told before it becomes the server.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// Which layers to put in place. One that cannot be is an error: what is reported as refused has to be.
    pub layers: Layers,
    /// The folders that may be written.
    pub writable: Vec<PathBuf>,
    /// Folders, and the copies that are laid over them; those may be written.
    pub laid_over: Vec<(PathBuf, PathBuf)>,
    /// What the server's loader shall load first, kept from ours.
    pub preload: Option<OsString>,
    /// Where the server runs.
    pub directory: PathBuf,
    /// Its program and arguments.
    pub command: Vec<OsString>,
}

/// Restricts this process as ordered. It must have one thread only: namespaces and Landlock belong to threads.
///
/// # Errors
///
/// When a layer that was ordered cannot be put in place; the process must not go on then.
pub fn restrict(orders: &Orders) -> io::Result<()> {
    let Layers { landlock, mounts, network, connections } = orders.layers;
    set_no_new_privs(true)?;
    if mounts || network {
        // Read before the network is another one, in which nobody listens.
        let sockets = if mounts && network { sockets::of_others(&orders.writable)? } else { Vec::new() };
        let owner = owner::Owner::of_this_process();
        let mut apart = CloneFlags::CLONE_NEWUSER;
        apart.set(CloneFlags::CLONE_NEWNS, mounts);
        apart.set(CloneFlags::CLONE_NEWNET, network);
        unshare(apart).map_err(named("a namespace of its own"))?;
        owner.stay()?;
        if network {
            network::raise_loopback()?;
        }
        if mounts {
            mounts::make_read_only(&orders.writable, &orders.laid_over)?;
            sockets::hide(&sockets)?;
            // In the namespace of their owner mounts could be changed back by a server that runs as root. Below it they are locked.
            unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
                .map_err(named("a second namespace"))?;
            owner.stay()?;
            mounts::make_processes_read_only()?;
        }
    }
    if landlock {
        // Without mounts no copy is laid over anything, and the folder stays what it was.
        let over = orders.laid_over.iter().filter(|_| mounts).map(|(folder, _)| folder);
        let writable: Vec<PathBuf> = orders.writable.iter().chain(over).cloned().collect();
        files::refuse_writes(&writable, mounts)?;
    }
    if connections {
        files::refuse_connections()?;
    }
    // The folder that we stand in is still that of the mount before.
    std::env::set_current_dir(&orders.directory)
}

/// Restricts this process and becomes the server; returns only if that fails.
///
/// # Errors
///
/// See [`restrict`]; or the server's program cannot be executed.
pub fn become_confined(orders: &Orders) -> io::Result<Infallible> {
    restrict(orders)?;
    let Some((program, arguments)) = orders.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no command"));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(preload) = &orders.preload {
        command.env("LD_PRELOAD", preload);
    }
    Err(command.exec())
}

/// Says what an error of the kernel was about.
fn named<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("the kernel does not give {what}: {error}"))
    }
}

/// Whether a path is one of these folders or below one.
fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

//! Whether what was ordered is in force: everything that a layer shall refuse is tried, on files of ours.

use std::{
    fs,
    io::{self, ErrorKind},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use super::{Orders, restrict};

/// An address that is nobody's, by RFC 5737. Without a network there is no way to it, which is known at once.
const NOWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// Restricts this process and tries to get around it. `outside` is a folder that may not be written, with a file in it.
///
/// # Errors
///
/// When a layer is not to be had, or something was possible all the same.
pub fn check(orders: &Orders, outside: &Path) -> io::Result<()> {
    restrict(orders)?;
    let file = outside.join("file");
    let layers = orders.layers;
    if layers.landlock || layers.mounts {
        refused("make a file", fs::write(outside.join("new"), ""))?;
        refused("empty a file", fs::File::options().write(true).truncate(true).open(&file))?;
        refused("rename a file", fs::rename(&file, outside.join("other")))?;
        refused("remove a file", fs::remove_file(&file))?;
    }
    if layers.mounts {
        refused("change a mode", fs::set_permissions(&file, fs::Permissions::from_mode(0o600)))?;
    }
    for folder in orders.writable.iter().filter(|folder| *folder != outside) {
        fs::write(folder.join("allowed"), "").map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be written: {error}", folder.display()))
        })?;
    }
    if layers.network {
        refused("connect to a network", TcpStream::connect(NOWHERE))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        TcpStream::connect(listener.local_addr()?)?;
    }
    if layers.connections {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        refused("connect to this machine", TcpStream::connect(listener.local_addr()?))?;
    }
    Ok(())
}

fn refused<T>(what: &str, tried: io::Result<T>) -> io::Result<()> {
    match tried {
        Ok(_) => Err(io::Error::other(format!("it was possible to {what}"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(io::Error::other(format!("whether one can {what} was not seen: {error}")))
        }
        Err(_) => Ok(()),
    }
}

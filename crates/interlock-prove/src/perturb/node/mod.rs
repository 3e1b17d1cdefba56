//! Node: the asynchronous operations of the calls wait at a gate inside of the server, and go in the order of a schedule.
//!
//! The gate is a few files that every Node process of the server loads before its own code, through `NODE_OPTIONS`, so that
//! package runners and wrappers are reached too. They connect to a socket of ours and sleep until they are armed.
//!
//! What waits is an operation as the server asks for it: a file, a timer that has expired, a request, a statement, a program. One
//! goes at a time, when all calls have come to rest, and the next when its outcome has had its effect. Orders of operations that
//! the runtime keeps apart itself (equal timers, one connection, one open file) are walked too, and are called unnatural.
//!
//! The requests of a run arrive together, in the order they are sent; schedules are about what comes afterwards. What is
//! synchronous, native or done by another thread has no gate: a call that waits for it counts as waiting for another call.

mod leash;
mod peer;
mod started;
mod walk;

use std::{
    ffi::OsString,
    fs, io,
    os::unix::{ffi::OsStrExt, net::UnixListener},
    path::Path,
};

use crate::{
    launch::Launch,
    perturb::{Inherited, Leash, Perturb, program::variable},
};

pub use walk::Walk;

/// What Node takes options from, besides its command line.
const OPTIONS: &str = "NODE_OPTIONS";

/// Where the preload finds us.
const SOCKET_VARIABLE: &str = "INTERLOCK_NODE_SOCKET";

/// What is loaded into the server, by file name; the first loads the others.
const PRELOAD: &[(&str, &str)] = &[
    ("main.cjs", include_str!("preload/main.cjs")),
    ("calls.cjs", include_str!("preload/calls.cjs")),
    ("channel.cjs", include_str!("preload/channel.cjs")),
    ("children.cjs", include_str!("preload/children.cjs")),
    ("drivers.cjs", include_str!("preload/drivers.cjs")),
    ("files.cjs", include_str!("preload/files.cjs")),
    ("gate.cjs", include_str!("preload/gate.cjs")),
    ("held.cjs", include_str!("preload/held.cjs")),
    ("order.cjs", include_str!("preload/order.cjs")),
    ("requests.cjs", include_str!("preload/requests.cjs")),
    ("sockets.cjs", include_str!("preload/sockets.cjs")),
    ("timers.cjs", include_str!("preload/timers.cjs")),
    ("windows.cjs", include_str!("preload/windows.cjs")),
    ("wrap.cjs", include_str!("preload/wrap.cjs")),
];

/// The perturbation of Node servers; [`Walk`] hands out its schedules.
#[derive(Debug, Clone, Default)]
pub struct Node {
    inherited: Inherited,
}

impl Node {
    /// For servers that are started in this environment.
    #[must_use]
    pub fn new(inherited: Inherited) -> Self {
        Self { inherited }
    }
}

impl Perturb for Node {
    fn name(&self) -> &'static str {
        "node-order"
    }

    fn applies(&self, launch: &Launch) -> Result<(), String> {
        started::by_node(launch, &self.inherited)
    }

    fn attach(&self, launch: &mut Launch, folder: &Path) -> io::Result<Box<dyn Leash>> {
        for (name, text) in PRELOAD {
            fs::write(folder.join(name), text)?;
        }
        let socket = folder.join("node");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        launch.environment.insert(SOCKET_VARIABLE.into(), socket.into_os_string());
        let before = variable(launch, &self.inherited, OPTIONS).unwrap_or_default().to_owned();
        launch.environment.insert(OPTIONS.into(), options(before, &folder.join("main.cjs"))?);
        Ok(Box::new(leash::NodeLeash::new(listener)))
    }
}

/// The options that load a file besides what was there. Node splits them at spaces unless they are quoted.
fn options(before: OsString, file: &Path) -> io::Result<OsString> {
    let file = std::str::from_utf8(file.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the folder's name is not UTF-8"))?;
    let quoted = file.replace('\\', r"\\").replace('"', r#"\""#);
    let mut options = before;
    if !options.is_empty() {
        options.push(" ");
    }
    options.push(format!("--require=\"{quoted}\""));
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_were_there_stay_and_a_path_with_spaces_is_quoted() {
        let options = options("--max-old-space-size=64".into(), Path::new(r#"/a b/"c"/main.cjs"#)).unwrap();
        assert_eq!(options, r#"--max-old-space-size=64 --require="/a b/\"c\"/main.cjs""#);
    }
}

//! A server's own wall clock, which a test sets forwards and back while it runs. The machine's clock is never touched: a small library
//! that is loaded before the server's own answers in the system's place.

use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{StartError, refused};

const SHIM: &str = include_str!("clock.c");

/// A wall clock that is the machine's plus a shift.
#[derive(Debug)]
pub(super) struct ShiftedClock {
    shift: PathBuf,
    shim: PathBuf,
}

impl ShiftedClock {
    /// Lays it out in a server's folder, where it goes with the rest.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, StartError> {
        let (source, shim, shift) = (folder.join("clock.c"), folder.join("clock.so"), folder.join("clock"));
        fs::write(&source, SHIM)
            .and_then(|()| fs::write(&shift, [0; 8]))
            .map_err(refused("write the preloaded clock"))?;
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&shim, &source])
            .stdin(Stdio::null())
            .output()
            .map_err(refused("run cc, which builds the preloaded clock"))?;
        if built.status.success() {
            Ok(Self { shift, shim })
        } else {
            Err(StartError::NotReady { program: "cc", log: String::from_utf8_lossy(&built.stderr).into() })
        }
    }

    /// What stands before a command line so that it goes by this clock.
    pub(super) fn prefix(&self) -> Vec<String> {
        let set = |name: &str, path: &Path| format!("{name}={}", path.display());
        vec!["env".into(), set("LD_PRELOAD", &self.shim), set("INTERLOCK_CLOCK", &self.shift)]
    }

    /// Lets it show so many seconds more, or less, than the machine's.
    pub(super) fn shift(&self, seconds: i64) -> io::Result<()> {
        // In place, because the server has this very file in its memory.
        fs::OpenOptions::new().write(true).open(&self.shift)?.write_all_at(&seconds.to_ne_bytes(), 0)
    }
}

/// The clock of a server that was started with one.
pub(super) fn shift(clock: Option<&ShiftedClock>, seconds: i64) -> io::Result<()> {
    match clock {
        Some(clock) => clock.shift(seconds),
        None => Err(io::Error::other("this server was started with the machine's clock")),
    }
}

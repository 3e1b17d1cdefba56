//! What the kernel of this machine can refuse a process that is not privileged: tried, not looked up.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{Layers, options};

/// For each layer whether it can be had; if not, why, in words.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Contents and names.
    pub landlock: Result<(), String>,
    /// Also modes, owners and times.
    pub mounts: Result<(), String>,
    /// The network.
    pub network: Result<(), String>,
    /// TCP connections.
    pub connections: Result<(), String>,
}

impl Default for Kernel {
    /// Nothing is known, so nothing is relied upon.
    fn default() -> Self {
        let unknown = || Err("it was not tried".to_owned());
        Self { landlock: unknown(), mounts: unknown(), network: unknown(), connections: unknown() }
    }
}

impl Kernel {
    /// Has the helper put each layer in place and try to get around it.
    #[must_use]
    pub fn of_this_machine(helper: &[OsString]) -> Self {
        let tried = |layers: Layers| attempt(helper, layers);
        let landlock = tried(Layers { landlock: true, ..Layers::default() });
        // Together, because that is how they are used.
        let both = Layers { landlock: landlock.is_ok(), mounts: true, ..Layers::default() };
        Self {
            mounts: tried(both),
            network: tried(Layers { network: true, ..Layers::default() }),
            connections: tried(Layers { connections: true, ..Layers::default() }),
            landlock,
        }
    }

    /// The same kernel without some of its layers, by their names.
    #[must_use]
    pub fn without(mut self, names: &[String]) -> Self {
        let layers = [
            ("landlock", &mut self.landlock),
            ("mounts", &mut self.mounts),
            ("network", &mut self.network),
            ("connections", &mut self.connections),
        ];
        for (name, layer) in layers {
            if names.iter().any(|without| without == name) {
                *layer = Err("it is to be done without".into());
            }
        }
        self
    }
}

/// So much of what the helper complains of is kept.
const KEPT: usize = 200;

fn attempt(helper: &[OsString], layers: Layers) -> Result<(), String> {
    let tried = || -> io::Result<Result<(), String>> {
        let (program, words) = helper.split_first().ok_or(io::ErrorKind::NotFound)?;
        let (inside, outside) = (folder()?, folder()?);
        let (inside, outside) = (real(&inside)?, real(&outside)?);
        fs::write(outside.join("file"), "x")?;
        let output = Command::new(program)
            .args(words)
            .args(options(layers))
            .args([OsString::from("--writable"), inside.clone().into(), "--directory".into(), inside.into()])
            .args([OsString::from("--check"), outside.into()])
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("error: ");
        Ok(Err(said.chars().filter(|c| !c.is_control()).take(KEPT).collect()))
    };
    tried().unwrap_or_else(|error| Err(error.to_string()))
}

fn folder() -> io::Result<TempDir> {
    TempDir::with_prefix("interlock-prove-")
}

fn real(folder: &TempDir) -> io::Result<PathBuf> {
    Path::new(folder.path()).canonicalize()
}

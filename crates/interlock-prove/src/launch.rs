//! How a server is started.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

/// A command with its environment, every `{scratch}` already filled in.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program, as it was given: a name or a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is added to the environment that it is started in.
    pub environment: BTreeMap<OsString, OsString>,
    /// The instance's own folder, also its working directory unless the command was given relative to another.
    pub scratch: PathBuf,
    /// Where it runs.
    pub directory: PathBuf,
}

//! Brings what was named into a folder, with the ordinary client of its kind.

mod archive;
mod git;
mod npm;
mod pypi;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use tempfile::TempDir;

use crate::{
    named::Named,
    run::{Environment, FetchError, Limits, Run, Watcher},
    start::Start,
};

/// What was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// The sources.
    pub folder: PathBuf,
    /// How it came here, a sentence each.
    pub origin: Vec<String>,
    /// How it is started, or why that is not known.
    pub start: Result<Start, String>,
    /// Whether it came from somewhere else.
    pub is_foreign: bool,
    /// Where it is; gone when this is dropped.
    stage: Option<TempDir>,
}

impl Fetched {
    /// Where it is kept, for as long as it is needed.
    #[must_use]
    pub fn into_stage(self) -> Option<TempDir> {
        self.stage
    }
}

/// Fetches. `to_run` says whether what the server needs to run is wanted as well.
///
/// # Errors
/// If it is not there, or too much.
pub fn fetch(
    named: &Named,
    to_run: bool,
    limits: Limits,
    environment: &Environment,
    watcher: &dyn Watcher,
) -> Result<Fetched, FetchError> {
    let run = Run { limits, begin: Instant::now(), environment, watcher };
    match named {
        Named::Folder(folder) => Ok(Fetched {
            folder: folder.clone(),
            origin: Vec::new(),
            start: crate::start::start(folder),
            is_foreign: false,
            stage: None,
        }),
        Named::Archive(file) => archive::get(&run, file),
        Named::Git { url, reference, subfolder } => git::get(&run, url, reference.as_deref(), subfolder),
        Named::Npm { name, version } => npm::get(&run, name, version.as_deref(), to_run),
        Named::Pypi { name, version } => pypi::get(&run, name, version.as_deref(), to_run),
    }
}

/// A folder for what is fetched.
fn stage() -> Result<TempDir, FetchError> {
    Ok(TempDir::with_prefix("interlock-fetch-")?)
}

/// A folder below another that is there, and really below it: a link may lead anywhere.
fn below(root: &Path, subfolder: &str) -> Result<PathBuf, FetchError> {
    let none = || FetchError::NoFolder(subfolder.to_owned());
    let root = root.canonicalize()?;
    let folder = root.join(subfolder).canonicalize().map_err(|_| none())?;
    if folder.starts_with(&root) && folder.is_dir() { Ok(folder) } else { Err(none()) }
}

//! Where the configuration is: the file that was named, or the nearest `interlock.toml` from the scanned root up to that of its
//! repository.

use std::{fs, path::Path};

use super::{Config, ConfigError, parse::parse};
use crate::walk::{LIMITS, Root, read_setting};

/// The name of the file.
const NAME: &str = "interlock.toml";

/// Reads the file that was named, or the project's own if there is one.
pub(crate) fn load(given: Option<&Path>, root: &Root) -> Result<Config, ConfigError> {
    let own = || project_folders(&root.folder).map(|folder| folder.join(NAME)).find(|path| is_there(path));
    let Some(path) = given.map(Path::to_owned).or_else(own) else { return Ok(Config::default()) };
    // A link that the user names is followed; one that lies in a scanned tree is not.
    let place =
        if given.is_some() { path.canonicalize().unwrap_or_else(|_| path.clone()) } else { path.clone() };
    let text = read_setting(&place, &LIMITS).map_err(|why| ConfigError::Unreadable {
        path: path.clone(),
        why: if is_there(&place) { why } else { "is not there".to_owned() },
    })?;
    let config =
        parse(&text).map_err(|(line, what)| ConfigError::Invalid { path: path.clone(), line, what })?;
    // What is named on the command line speaks of what is scanned, and a project's own file of the folder it lies in.
    let folder = if given.is_some() { None } else { path.parent().map(Path::to_owned) };
    Ok(Config { folder, ..config })
}

/// The scanned root, and the folders above it that belong to the same repository.
fn project_folders(folder: &Path) -> impl Iterator<Item = &Path> {
    let depth = folder.ancestors().position(|folder| is_there(&folder.join(".git"))).unwrap_or(0);
    folder.ancestors().take(depth + 1)
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

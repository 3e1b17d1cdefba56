//! Where the configuration is: the file that was named, or `interlock.toml` in the scanned root.

use std::{fs, path::Path};

use super::{Config, ConfigError, parse::parse};
use crate::walk::{LIMITS, Root, read_setting};

/// The name of the file in a scanned root.
const NAME: &str = "interlock.toml";

/// Reads the file that was named, or the root's own if there is one.
pub(crate) fn load(given: Option<&Path>, root: &Root) -> Result<Config, ConfigError> {
    let own = root.folder.join(NAME);
    let path = match given {
        Some(given) => given,
        None if fs::symlink_metadata(&own).is_ok() => &own,
        None => return Ok(Config::default()),
    };
    // A link that the user names is followed; one that lies in a scanned tree is not.
    let place =
        if given.is_some() { path.canonicalize().unwrap_or_else(|_| path.to_owned()) } else { own.clone() };
    let text = read_setting(&place, &LIMITS).map_err(|why| ConfigError::Unreadable {
        path: path.to_owned(),
        why: if fs::symlink_metadata(&place).is_err() { "is not there".to_owned() } else { why },
    })?;
    parse(&text).map_err(|(line, what)| ConfigError::Invalid { path: path.to_owned(), line, what })
}

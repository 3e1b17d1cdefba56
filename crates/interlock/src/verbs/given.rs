//! What several verbs take from the command line alike.
#![expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf};

use anyhow::{Context, Result, bail};

/// The user's home.
pub(super) fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute() && home.is_dir())
}

/// The environment, for programs that are started.
pub(super) fn environment() -> BTreeMap<OsString, OsString> {
    env::vars_os().collect()
}

/// The folder that the command line was typed in.
pub(super) fn here() -> PathBuf {
    env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// What `--env` says.
pub(super) fn pairs(texts: &[String]) -> Result<BTreeMap<String, String>> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').with_context(|| format!("`{text}` is not NAME=VALUE"))?;
        if name.is_empty() {
            bail!("`{text}` names no variable");
        }
        Ok((name.to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}

//! A package of npm, by the ordinary `npm` with the user's own settings; no script of any package is run.

use std::{ffi::OsStr, fs, path::PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::{Fetched, below, stage};
use crate::{
    archive::{unpack, unwrap},
    run::{FetchError, Run},
};

pub(super) fn get(
    run: &Run<'_>,
    name: &str,
    version: Option<&str>,
    to_run: bool,
) -> Result<Fetched, FetchError> {
    let stage = stage()?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    // A project of its own: what stands in a folder above is none of its business.
    fs::write(stage.path().join("package.json"), "{\"private\":true}\n")?;
    let (folder, how) = if to_run {
        run.watcher.doing(&format!("installing {wanted}, without its scripts"));
        (install(run, &stage, name, &wanted)?, "installed")
    } else {
        run.watcher.doing(&format!("fetching {wanted}"));
        (pack(run, &stage, &wanted)?, "fetched")
    };
    let package = fs::read_to_string(folder.join("package.json"))?;
    let package: Value = serde_json::from_str(&package)
        .map_err(|error| FetchError::Odd(format!("its package.json cannot be read: {error}")))?;
    let found = package.get("version").and_then(Value::as_str).unwrap_or("?");
    let start = if to_run {
        crate::start::start(&folder)
    } else {
        Err("what it needs to run is only fetched with --run-untrusted".to_owned())
    };
    Ok(Fetched {
        origin: vec![format!("{how} {name} {found} with npm, no script of any package was run")],
        start,
        folder,
        is_foreign: true,
        stage: Some(stage),
    })
}

/// The package with all that it needs.
fn install(run: &Run<'_>, stage: &TempDir, name: &str, wanted: &str) -> Result<PathBuf, FetchError> {
    let words = [
        "npm",
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--omit=dev",
        "--no-bin-links",
        "--loglevel=error",
        "--prefix",
    ];
    let words =
        words.iter().map(OsStr::new).chain([stage.path().as_os_str(), OsStr::new("--"), OsStr::new(wanted)]);
    run.client(&words.collect::<Vec<_>>(), run.environment, stage.path())?;
    below(stage.path(), &format!("node_modules/{name}"))
}

/// Only the package itself, to be read: what it depends on could name any address.
fn pack(run: &Run<'_>, stage: &TempDir, wanted: &str) -> Result<PathBuf, FetchError> {
    let (packed, tree) = (stage.path().join("packed"), stage.path().join("tree"));
    fs::create_dir(&packed)?;
    fs::create_dir(&tree)?;
    let words = ["npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"];
    let words =
        words.iter().map(OsStr::new).chain([packed.as_os_str(), OsStr::new("--"), OsStr::new(wanted)]);
    run.client(&words.collect::<Vec<_>>(), run.environment, stage.path())?;
    let archive = fs::read_dir(&packed)?.flatten().next();
    let archive = archive.ok_or_else(|| FetchError::Odd(format!("npm packed nothing for `{wanted}`")))?;
    unpack(run, &archive.path(), &tree)?;
    Ok(unwrap(&tree))
}

//! A package of npm, by the ordinary `npm` with the user's own settings; no script of any package is run.

use std::{ffi::OsStr, fs};

use serde_json::Value;

use super::{Fetched, below, stage};
use crate::run::{FetchError, Run};

pub(super) fn get(run: &Run<'_>, name: &str, version: Option<&str>) -> Result<Fetched, FetchError> {
    let stage = stage()?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    run.watcher.doing(&format!("installing {wanted}, without its scripts"));
    // A project of its own: what stands in a folder above is none of its business.
    fs::write(stage.path().join("package.json"), "{\"private\":true}\n")?;
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
        words.iter().map(OsStr::new).chain([stage.path().as_os_str(), OsStr::new("--"), OsStr::new(&wanted)]);
    run.client(&words.collect::<Vec<_>>(), run.environment, stage.path())?;
    let folder = below(stage.path(), &format!("node_modules/{name}"))?;
    let package = fs::read_to_string(folder.join("package.json"))?;
    let package: Value = serde_json::from_str(&package)
        .map_err(|error| FetchError::Odd(format!("its package.json cannot be read: {error}")))?;
    let installed = package.get("version").and_then(Value::as_str).unwrap_or("?");
    Ok(Fetched {
        origin: vec![format!("installed {name} {installed} with npm, no script of any package was run")],
        start: crate::start::start(&folder),
        folder,
        is_foreign: true,
        stage: Some(stage),
    })
}

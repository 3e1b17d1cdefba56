//! A package of PyPI, by the ordinary `pip` with the user's own settings. Only built packages are taken: a source package runs code to be built.

use std::{ffi::OsStr, ffi::OsString, fs, path::Path};

use super::{Fetched, below, stage};
use crate::{
    run::{FetchError, Run},
    start::Start,
};

pub(super) fn get(
    run: &Run<'_>,
    name: &str,
    version: Option<&str>,
    to_run: bool,
) -> Result<Fetched, FetchError> {
    let stage = stage()?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}=={version}"));
    run.watcher.doing(&format!("fetching {wanted}, built packages only"));
    let sources = stage.path().join("sources");
    install(run, &wanted, &sources, &["--no-deps"], stage.path())?;
    let (distribution, package) = contents(&sources, name)?;
    let start = if to_run {
        run.watcher.doing(&format!("installing {wanted} with what it needs"));
        let all = stage.path().join("all");
        install(run, &wanted, &all, &[], stage.path())?;
        command(&sources, &distribution, &all)
    } else {
        Err("what it needs to run is only fetched with --run-untrusted".to_owned())
    };
    let installed =
        distribution.trim_end_matches(".dist-info").rsplit_once('-').map_or("?", |(_, version)| version);
    Ok(Fetched {
        origin: vec![format!("installed {name} {installed} with pip, from built packages only")],
        folder: below(&sources, &package)?,
        start,
        is_foreign: true,
        stage: Some(stage),
    })
}

fn install(
    run: &Run<'_>,
    wanted: &str,
    target: &Path,
    options: &[&str],
    stage: &Path,
) -> Result<(), FetchError> {
    let words = [
        "python3",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--only-binary=:all:",
        "--no-compile",
        "--target",
    ];
    let words =
        words.iter().map(OsStr::new).chain([target.as_os_str()]).chain(options.iter().map(OsStr::new));
    let words: Vec<&OsStr> = words.chain([OsStr::new("--"), OsStr::new(wanted)]).collect();
    // As for npm, the user's own settings: an index of a company is where its packages are.
    run.client(&words, run.environment, stage).map(drop)
}

/// The folder that describes the package, and the folder of its modules; all of it, where it has more than one or none.
fn contents(sources: &Path, name: &str) -> Result<(String, String), FetchError> {
    let mut described = None;
    let mut packages = Vec::new();
    for entry in fs::read_dir(sources)?.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.ends_with(".dist-info") {
            described = Some(found);
        } else if entry.path().is_dir() && !matches!(found.as_str(), "bin" | "__pycache__") {
            packages.push(found);
        } else if found.ends_with(".py") {
            packages.extend([found, String::new()]);
        }
    }
    let described = described
        .ok_or_else(|| FetchError::Odd(format!("what was installed does not say what `{name}` is")))?;
    let package = match packages.as_slice() {
        [only] => only.clone(),
        _ => String::new(),
    };
    Ok((described, package))
}

/// How the package's program is started: its entry point, called by Python with all that was installed on its path.
fn command(sources: &Path, distribution: &str, all: &Path) -> Result<Start, String> {
    let points = fs::read_to_string(sources.join(distribution).join("entry_points.txt")).unwrap_or_default();
    let scripts = points.lines().skip_while(|line| line.trim() != "[console_scripts]").skip(1);
    let scripts = scripts.take_while(|line| !line.trim_start().starts_with('['));
    let mut found = scripts.filter_map(|line| line.split_once('='));
    let Some((_, object)) = found.next() else {
        return Err("the package announces no program".to_owned());
    };
    let object = object.split('[').next().unwrap_or_default().trim();
    let (module, function) = object.split_once(':').unwrap_or((object, ""));
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if !is_name(module) || !is_name(function) {
        return Err(format!("its program `{object}` is not understood"));
    }
    let code = format!("import sys, importlib; sys.exit(importlib.import_module('{module}').{function}())");
    let mut start = Start::of(["python3".into(), "-c".into(), code]);
    let path = OsString::from(all).to_string_lossy().into_owned();
    start.environment.insert("PYTHONPATH".to_owned(), path);
    Ok(start)
}

//! A package in a folder of its own. Scripts of packages are not run: npm is told so, and pip takes nothing that has to be built.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::list::{Registry, Server};
use crate::{root::Root, run::Run};

/// What there is to scan and to start.
pub(super) struct Installed {
    pub(super) sources: PathBuf,
    pub(super) command: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
}

/// Installs it, unless it is there already.
pub(super) fn install(root: &Root, server: &Server, place: &Path) -> Result<Installed> {
    match server.registry()? {
        Registry::Npm(name) => npm(root, server, name, place),
        Registry::Pypi(name) => pypi(root, server, name, place),
    }
}

fn npm(root: &Root, server: &Server, name: &str, place: &Path) -> Result<Installed> {
    let sources = place.join("node_modules").join(name);
    let manifest = sources.join("package.json");
    if !manifest.is_file() {
        let folder = place.display().to_string();
        Run::new(root, "npm")
            .args([
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--silent",
                "--no-save",
                "--prefix",
                &folder,
            ])
            .args([format!("{name}@{}", server.version)])
            .args(&server.with)
            .go()?;
    }
    let text =
        fs::read_to_string(&manifest).with_context(|| format!("failed to read {}", manifest.display()))?;
    let manifest: Value = serde_json::from_str(&text)?;
    let program = match manifest.get("bin") {
        Some(Value::String(path)) => Some(path.as_str()),
        Some(Value::Object(programs)) => {
            let named =
                server.program.as_ref().map_or_else(|| programs.values().next(), |name| programs.get(name));
            named.and_then(Value::as_str)
        }
        _ => manifest.get("main").and_then(Value::as_str),
    };
    let program = sources.join(program.context("the package has no program")?);
    let command = vec!["node".to_owned(), program.display().to_string()];
    Ok(Installed { sources, command, environment: BTreeMap::new() })
}

fn pypi(root: &Root, server: &Server, name: &str, place: &Path) -> Result<Installed> {
    let library = place.join("lib");
    let chosen = place.join("python");
    if !library.is_dir() {
        // A name of its own until all of it is there.
        let half = place.join("half");
        let mut failed = None;
        for python in pythons(root) {
            let _ = fs::remove_dir_all(&half);
            match with_pip(root, server, name, &python, &half) {
                Ok(()) => {
                    fs::write(&chosen, &python).context("failed to keep which Python it is")?;
                    failed = None;
                    break;
                }
                // It may be for a newer one.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        fs::rename(&half, &library).context("failed to move what was installed")?;
    }
    let python = fs::read_to_string(&chosen).unwrap_or_else(|_| "python3".to_owned());
    let asked = format!(
        "import importlib.metadata as m\nd = m.distribution({name:?})\n\
         print(*[e.name for e in d.entry_points if e.group == 'console_scripts'])\n\
         print(*sorted({{str(f).split('/')[0] for f in d.files if str(f).endswith('.py') and not str(f).startswith('..')}}))"
    );
    let path = library.display().to_string();
    let said = Run::new(root, &python).args(["-c", &asked]).env("PYTHONPATH", &path).quiet().text()?;
    let mut lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let (programs, packages) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let named = server.program.as_deref();
    let program = named.or_else(|| programs.iter().copied().find(|program| program.contains("mcp")));
    let program = program.or(programs.first().copied()).context("the package has no program")?;
    let sources = packages.first().map_or_else(|| library.clone(), |package| library.join(package));
    let command = vec![python, library.join("bin").join(program).display().to_string()];
    Ok(Installed { sources, command, environment: BTreeMap::from([("PYTHONPATH".to_owned(), path)]) })
}

/// Names of interpreters, the usual one first: there are packages that want a newer one.
const PYTHONS: &[&str] = &["python3", "python3.13", "python3.12", "python3.14"];

/// Those that are there, as the programs that they are: what stands on the path may be a script that looks for one at every start.
fn pythons(root: &Root) -> Vec<String> {
    let asked = "import sys; print(sys.executable)";
    let is_there = |name: &&&str| Run::new(root, name).args(["-c", asked]).quiet().succeeds();
    let program = |name: &&str| Run::new(root, name).args(["-c", asked]).quiet().text().ok();
    let mut found: Vec<String> = Vec::new();
    for path in PYTHONS.iter().filter(is_there).filter_map(program) {
        let path = path.trim().to_owned();
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Installs without building anything, and compiles: an instance may not write beside the code, so each would compile all that it loads.
fn with_pip(root: &Root, server: &Server, name: &str, python: &str, folder: &Path) -> Result<()> {
    let target = folder.display().to_string();
    Run::new(root, python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--compile"])
        .args(["--only-binary", ":all:", "--target", &target])
        .args([format!("{name}=={}", server.version)])
        .args(&server.with)
        .go()?;
    // What pip could not compile is in nobody's way.
    let _ = Run::new(root, python).args(["-m", "compileall", "-q", &target]).quiet().succeeds();
    Ok(())
}

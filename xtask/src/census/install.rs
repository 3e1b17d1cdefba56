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
    if !library.is_dir() {
        // A name of its own until all of it is there.
        let half = place.join("half");
        let _ = fs::remove_dir_all(&half);
        Run::new(root, "python3")
            // Compiled, or every instance would compile all that it loads: it may not write beside it.
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--only-binary", ":all:", "--target", &half.display().to_string()])
            .args([format!("{name}=={}", server.version)])
            .args(&server.with)
            .go()?;
        fs::rename(&half, &library).context("failed to move what was installed")?;
    }
    let asked = format!(
        "import importlib.metadata as m\nd = m.distribution({name:?})\n\
         print(*[e.name for e in d.entry_points if e.group == 'console_scripts'])\n\
         print(*sorted({{str(f).split('/')[0] for f in d.files if str(f).endswith('.py') and not str(f).startswith('..')}}))"
    );
    let path = library.display().to_string();
    let said = Run::new(root, "python3").args(["-c", &asked]).env("PYTHONPATH", &path).quiet().text()?;
    let mut lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let (programs, packages) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let named = server.program.as_deref();
    let program = named.or_else(|| programs.iter().copied().find(|program| program.contains("mcp")));
    let program = program.or(programs.first().copied()).context("the package has no program")?;
    let sources = packages.first().map_or_else(|| library.clone(), |package| library.join(package));
    let command = vec!["python3".to_owned(), library.join("bin").join(program).display().to_string()];
    Ok(Installed { sources, command, environment: BTreeMap::from([("PYTHONPATH".to_owned(), path)]) })
}

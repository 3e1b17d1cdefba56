//! The other proxies, by name and version: installed below the target folder, once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::json;

use crate::{root::Root, run::Run};

const SUPERGATEWAY: &str = "4.0.0";
const PYTHON: &str = "0.13.0";
const CRATE: &str = "0.6.0";

/// Where they are.
pub(super) struct Peers {
    supergateway: PathBuf,
    python: PathBuf,
    crate_proxy: PathBuf,
}

/// Installs those that are not there.
pub(super) fn installed(root: &Root, folder: &Path) -> Result<Peers> {
    fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let peers = Peers {
        supergateway: folder
            .join(format!("supergateway-{SUPERGATEWAY}/node_modules/supergateway/dist/index.js")),
        python: folder.join(format!("python-{PYTHON}/bin/mcp-proxy")),
        crate_proxy: folder.join(format!("crate-{CRATE}/bin/mcp-proxy")),
    };
    let below = |name: String| folder.join(name).display().to_string();
    if !peers.supergateway.is_file() {
        let (into, wanted) =
            (below(format!("supergateway-{SUPERGATEWAY}")), format!("supergateway@{SUPERGATEWAY}"));
        Run::new(root, "npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", &into, &wanted])
            .go()?;
    }
    if !peers.python.is_file() {
        let (into, wanted) = (below(format!("python-{PYTHON}")), format!("mcp-proxy=={PYTHON}"));
        Run::new(root, "python3").args(["-m", "venv", &into]).go()?;
        Run::new(root, &format!("{into}/bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &wanted])
            .go()?;
    }
    if !peers.crate_proxy.is_file() {
        let (into, version) = (below(format!("crate-{CRATE}")), format!("={CRATE}"));
        // In a target folder of its own, so that its builds and ours do not push each other out.
        Run::new(root, "cargo")
            .args(["install", "mcp-proxy", "--version", &version, "--locked", "--root", &into])
            .env("CARGO_TARGET_DIR", &below("build".to_owned()))
            .go()?;
    }
    Ok(peers)
}

impl Peers {
    /// Who takes part, as `guard-bench` reads it.
    pub(super) fn list(&self, interlock: &str) -> String {
        json!({
            "interlock": interlock,
            "supergateway": self.supergateway,
            "supergateway_name": format!("npm supergateway {SUPERGATEWAY}"),
            "python": self.python,
            "python_name": format!("PyPI mcp-proxy {PYTHON}"),
            "crate": self.crate_proxy,
            "crate_name": format!("crate mcp-proxy {CRATE}"),
        })
        .to_string()
    }
}

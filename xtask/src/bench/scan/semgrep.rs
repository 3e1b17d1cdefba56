//! Semgrep, installed from PyPI for this run, with a few rules of ours: its package brings none.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{root::Root, run::Run};

/// The version that is measured.
pub(super) const VERSION: &str = "1.182.0";

/// The rules: what can be said about these races without following values from one function to another.
const TEXT: &str = include_str!("semgrep.yml");

/// How many rules there are.
pub(super) const RULES: usize = 13;

/// Installs it into a folder; the program.
pub(super) fn install(root: &Root, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("semgrep");
    Run::new(root, "python3").args(["-m", "venv"]).args([folder.to_string_lossy()]).go()?;
    let pip = folder.join("bin/pip");
    let wanted = format!("semgrep=={VERSION}");
    Run::new(root, &pip.to_string_lossy()).args(["install", "--quiet", &wanted]).go()?;
    Ok(folder.join("bin/semgrep"))
}

/// Writes the rules; where they are.
pub(super) fn rules(scratch: &Path) -> Result<PathBuf> {
    let path = scratch.join("semgrep.yml");
    fs::write(&path, TEXT).context("failed to write the rules")?;
    Ok(path)
}

/// Runs it over a folder, on one core, asking nobody.
pub(super) fn command(program: &Path, rules: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([
        "scan",
        "--metrics=off",
        "--disable-version-check",
        "--no-git-ignore",
        "--jobs=1",
        "--json",
        "--quiet",
    ]);
    command.arg("--config").arg(rules).arg(folder);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_as_many_as_the_table_says() {
        assert_eq!(TEXT.matches("  - id: ").count(), RULES);
    }
}

//! The list of servers: what is installed, and how it is started.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    server: Vec<Server>,
}

/// One server, pinned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    /// `npm:NAME` or `pypi:NAME`.
    pub(super) package: String,
    pub(super) version: String,
    /// The program of the package that is the server, where it has several.
    pub(super) program: Option<String>,
    /// What else is installed, with it: a bound that its own dependencies lack, such as `mcp<2`.
    #[serde(default)]
    pub(super) with: Vec<String>,
    /// Behind the command; `{scratch}` is the instance's folder.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// Where it keeps its data, if it has to be told.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Whether calls change something that later calls see; told from what its tools are said to do.
    pub(super) keeps_state: bool,
}

/// Where a package comes from.
pub(super) enum Registry<'s> {
    Npm(&'s str),
    Pypi(&'s str),
}

impl Server {
    pub(super) fn registry(&self) -> Result<Registry<'_>> {
        let (registry, name) =
            self.package.split_once(':').context("a package is `npm:NAME` or `pypi:NAME`")?;
        // What is handed to an installer is a name and nothing else.
        let is_name = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
        ensure!(name.chars().all(is_name) && !name.starts_with('-'), "`{name}` is no name of a package");
        ensure!(
            self.version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c)),
            "`{}` is no version",
            self.version
        );
        let is_bound = |c: char| c.is_ascii_alphanumeric() || "@/._-<>=~".contains(c);
        for bound in &self.with {
            ensure!(
                bound.chars().all(is_bound) && !bound.starts_with('-'),
                "`{bound}` is no package with a bound"
            );
        }
        match registry {
            "npm" => Ok(Registry::Npm(name)),
            "pypi" => Ok(Registry::Pypi(name)),
            other => anyhow::bail!("`{other}` is no registry that is known"),
        }
    }
}

/// Reads the list. A server that is in it twice would be counted twice.
pub(super) fn read(text: &str) -> Result<Vec<Server>> {
    let List { server: servers } = toml::from_str(text).context("the list of servers cannot be read")?;
    for (at, server) in servers.iter().enumerate() {
        server.registry().with_context(|| format!("in the entry of {}", server.package))?;
        let again = servers.iter().skip(at + 1).any(|other| other.package == server.package);
        ensure!(!again, "{} is in the list twice", server.package);
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_name_and_a_version_and_no_option() {
        let entry = |package: &str| {
            format!("[[server]]\npackage = \"{package}\"\nversion = \"1.0\"\nkeeps_state = true\n")
        };
        assert_eq!(read(&entry("npm:@a/b")).unwrap().len(), 1);
        for wrong in ["npm:--force", "git:x", "x", "npm:a b"] {
            assert!(read(&entry(wrong)).is_err(), "{wrong}");
        }
        assert!(read(&(entry("npm:a") + &entry("npm:a"))).is_err());
    }

    #[test]
    fn the_list_of_the_census_can_be_read() {
        let servers = read(include_str!("../../data/census/servers.toml")).unwrap();
        assert!(servers.len() >= 40, "{}", servers.len());
    }
}

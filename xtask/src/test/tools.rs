//! The programs that the tests need, as data: how each is found and where it comes from. Tests start real servers and never
//! skip, so a missing program is said first, once, together with the command that installs it.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use super::Setting;
use crate::run::Run;

/// A program that must be there.
struct Tool {
    what: &'static str,
    /// Any of these is enough.
    found: &'static [Found],
    from: Source,
}

/// One way to see that a program is there.
enum Found {
    /// A file of this name in a folder of `PATH`.
    OnPath(&'static str),
    /// This file below any folder of that folder. Debian keeps servers of several versions there, off the path.
    InVersionOf { folder: &'static str, file: &'static str },
    /// `cargo NAME --version` succeeds.
    CargoCommand(&'static str),
    /// `python3` can import it.
    PythonModule(&'static str),
}

/// Where a program comes from.
enum Source {
    Debian(&'static str),
    Rustup,
}

const TOOLS: &[Tool] = &[
    Tool { what: "git", found: &[Found::OnPath("git")], from: Source::Debian("git") },
    Tool {
        what: "redis-server",
        found: &[Found::OnPath("redis-server")],
        from: Source::Debian("redis-server"),
    },
    Tool {
        what: "postgres",
        found: &[
            Found::InVersionOf { folder: "/usr/lib/postgresql", file: "bin/postgres" },
            Found::OnPath("postgres"),
        ],
        from: Source::Debian("postgresql"),
    },
    // The store's suite runs through it, too.
    Tool { what: "pgbouncer", found: &[Found::OnPath("pgbouncer")], from: Source::Debian("pgbouncer") },
    // Programs that `prove` disturbs are written in these.
    Tool { what: "python3", found: &[Found::OnPath("python3")], from: Source::Debian("python3") },
    Tool { what: "node", found: &[Found::OnPath("node")], from: Source::Debian("nodejs") },
    // Looks at the guard's live page.
    Tool { what: "chromium", found: &[Found::OnPath("chromium")], from: Source::Debian("chromium") },
    // A repository behind ssh is fetched from one.
    Tool {
        what: "sshd",
        found: &[Found::InVersionOf { folder: "/usr", file: "sshd" }],
        from: Source::Debian("openssh-server"),
    },
    // Rust links with it; the file shim of `prove` and the stepped clocks of the fault tests are built with it too.
    Tool { what: "cc", found: &[Found::OnPath("cc")], from: Source::Debian("gcc") },
    // The servers that prove is shown on are installed with these.
    Tool { what: "npm", found: &[Found::OnPath("npm")], from: Source::Debian("npm") },
    Tool {
        what: "python3 -m venv",
        found: &[Found::PythonModule("ensurepip")],
        from: Source::Debian("python3-venv"),
    },
    Tool { what: "cargo fmt", found: &[Found::CargoCommand("fmt")], from: Source::Rustup },
    Tool { what: "cargo clippy", found: &[Found::CargoCommand("clippy")], from: Source::Rustup },
];

/// Fails unless every tool is there; installs what is missing first, if it may.
pub(super) fn ready(at: &Setting<'_>) -> Result<()> {
    let mut missing = missing(TOOLS, at);
    let packages = packages(&missing);
    if at.install && !packages.is_empty() {
        let is_root = Run::new(at.root, "id").args(["-u"]).quiet().text()?.trim() == "0";
        for command in install_commands(&packages, is_root) {
            if let Some((program, args)) = command.split_first() {
                Run::new(at.root, program).args(args).go().with_context(|| {
                    format!("failed to install {}; install it by hand and run again", packages.join(", "))
                })?;
            }
        }
        missing = self::missing(TOOLS, at);
    }
    if !missing.is_empty() {
        bail!("{}", explanation(&missing, at.install));
    }
    Ok(())
}

fn missing<'a>(tools: &'a [Tool], at: &Setting<'_>) -> Vec<&'a Tool> {
    tools.iter().filter(|tool| !tool.found.iter().any(|way| is_found(way, at))).collect()
}

fn is_found(way: &Found, at: &Setting<'_>) -> bool {
    match *way {
        Found::OnPath(program) => std::env::split_paths(at.path).any(|folder| folder.join(program).is_file()),
        Found::InVersionOf { folder, file } => is_in_version_of(Path::new(folder), file),
        Found::CargoCommand(name) => Run::new(at.root, "cargo").args([name, "--version"]).succeeds(),
        Found::PythonModule(name) => {
            Run::new(at.root, "python3").args(["-c", &format!("import {name}")]).succeeds()
        }
    }
}

fn is_in_version_of(folder: &Path, file: &str) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|versions| versions.flatten().any(|version| version.path().join(file).is_file()))
}

fn packages(missing: &[&Tool]) -> Vec<&'static str> {
    let debian = missing.iter().filter_map(|tool| match tool.from {
        Source::Debian(package) => Some(package),
        Source::Rustup => None,
    });
    debian.collect()
}

/// `env` sets the variable because `sudo` would drop it.
fn install_commands(packages: &[&str], is_root: bool) -> [Vec<String>; 2] {
    let sudo: &[&str] = if is_root { &[] } else { &["sudo"] };
    let apt = [sudo, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]].concat();
    let command = |args: &[&str]| apt.iter().chain(args).map(|&word| word.to_owned()).collect();
    [command(&["update"]), command(&[&["install", "-y", "--no-install-recommends"], packages].concat())]
}

fn explanation(missing: &[&Tool], tried: bool) -> String {
    let mut lines = vec![if tried { "still missing after the installation:" } else { "missing:" }.to_owned()];
    lines.extend(missing.iter().map(|tool| match tool.from {
        Source::Debian(package) => format!("  {} (Debian package {package})", tool.what),
        Source::Rustup => format!("  {} (`rustup component add rustfmt clippy`)", tool.what),
    }));
    if !tried && !packages(missing).is_empty() {
        lines.push("`cargo xtask test --install` installs the Debian packages".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Root;

    const HERE: Tool =
        Tool { what: "here", found: &[Found::OnPath("here")], from: Source::Debian("here-package") };
    const GONE: Tool =
        Tool { what: "gone", found: &[Found::OnPath("gone")], from: Source::Debian("gone-package") };
    const COMPONENT: Tool = Tool { what: "cargo gone", found: &[], from: Source::Rustup };

    #[test]
    fn a_program_on_the_path_is_found_and_another_is_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("here"), "").unwrap();
        let root = Root::find(None, None).unwrap();
        let at = Setting { root: &root, install: false, path: folder.path().as_os_str() };
        let tools = [HERE, GONE, COMPONENT];
        let missing: Vec<&str> = missing(&tools, &at).iter().map(|tool| tool.what).collect();
        assert_eq!(missing, ["gone", "cargo gone"]);
    }

    #[test]
    fn a_server_is_found_in_the_folder_of_any_version() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_in_version_of(folder.path(), "bin/postgres"));
        fs::create_dir_all(folder.path().join("17/bin")).unwrap();
        fs::write(folder.path().join("17/bin/postgres"), "").unwrap();
        assert!(is_in_version_of(folder.path(), "bin/postgres"));
        assert!(!is_in_version_of(&folder.path().join("nowhere"), "bin/postgres"));
    }

    #[test]
    fn only_missing_packages_are_installed_and_sudo_is_for_those_who_are_not_root() {
        let packages = packages(&[&GONE, &COMPONENT]);
        let [update, install] = install_commands(&packages, false).map(|words| words.join(" "));
        assert_eq!(update, "sudo env DEBIAN_FRONTEND=noninteractive apt-get update");
        assert_eq!(
            install,
            "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gone-package"
        );
        let [update, _] = install_commands(&packages, true).map(|words| words.join(" "));
        assert_eq!(update, "env DEBIAN_FRONTEND=noninteractive apt-get update");
    }

    #[test]
    fn what_is_missing_is_named_with_its_source_and_the_command_that_helps() {
        assert_eq!(
            explanation(&[&GONE, &COMPONENT], false),
            "missing:\n  gone (Debian package gone-package)\n  cargo gone (`rustup component add rustfmt clippy`)\n\
             `cargo xtask test --install` installs the Debian packages"
        );
        assert_eq!(
            explanation(&[&COMPONENT], true),
            "still missing after the installation:\n  cargo gone (`rustup component add rustfmt clippy`)"
        );
    }
}

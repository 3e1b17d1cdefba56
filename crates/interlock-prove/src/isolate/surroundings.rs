//! What a server finds around it: the folders that programs ask the environment for, all of them in the instance's own folder.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::Path,
};

use super::Isolation;
use crate::{launch::Launch, target::Scratch};

/// Variables that name the home folder.
const HOMES: &[&str] = &["HOME", "USERPROFILE"];

/// Variables that name what is temporary.
const TEMPORARY: &[&str] = &["TMPDIR", "TMP", "TEMP"];

/// Folders of the home, by the XDG specification.
const OF_HOME: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_BIN_HOME", ".local/bin"),
];

/// Folders that people keep things in. Only where they are named: then the home alone would not move them.
const OF_PEOPLE: &[&str] = &[
    "XDG_DESKTOP_DIR",
    "XDG_DOCUMENTS_DIR",
    "XDG_DOWNLOAD_DIR",
    "XDG_MUSIC_DIR",
    "XDG_PICTURES_DIR",
    "XDG_PUBLICSHARE_DIR",
    "XDG_TEMPLATES_DIR",
    "XDG_VIDEOS_DIR",
];

/// Where tools look for what is installed, unless a variable says so: below the home, which is another now.
const INSTALLED: &[(&str, &str)] = &[
    ("ASDF_DATA_DIR", ".asdf"),
    ("BUN_INSTALL", ".bun"),
    ("CARGO_HOME", ".cargo"),
    ("DENO_DIR", ".cache/deno"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("NVM_DIR", ".nvm"),
    ("PYENV_ROOT", ".pyenv"),
    ("PYTHONUSERBASE", ".local"),
    ("RBENV_ROOT", ".rbenv"),
    ("RUSTUP_HOME", ".rustup"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ("VOLTA_HOME", ".volta"),
];

/// Moves the server into its folders. What somebody gave it by name stays as given.
pub(super) fn give(launch: &mut Launch, scratch: &Scratch, isolation: &Isolation) {
    let mut given = Given { environment: &mut launch.environment };
    for name in TEMPORARY {
        given.set(name, &scratch.temporary);
    }
    // Bytecode that Python would put beside the code.
    given.set("PYTHONDONTWRITEBYTECODE", OsStr::new("1"));
    if isolation.leave.in_place {
        return;
    }
    for (name, folder) in INSTALLED {
        let found = isolation.home.as_ref().map(|home| home.join(folder)).filter(|folder| folder.is_dir());
        match found {
            Some(folder) if !isolation.inherited.contains_key(OsStr::new(name)) => given.set(name, folder),
            _ => {}
        }
    }
    for name in HOMES {
        given.set(name, &scratch.server);
    }
    for (name, folder) in OF_HOME {
        given.set(name, scratch.server.join(folder));
    }
    for name in OF_PEOPLE.iter().filter(|name| isolation.inherited.contains_key(OsStr::new(name))) {
        given.set(name, &scratch.server);
    }
    given.set("XDG_RUNTIME_DIR", &scratch.runtime);
    given.set("PWD", &scratch.server);
    given.set("OLDPWD", &scratch.server);
    given.set("INIT_CWD", &scratch.server);
    launch.directory.clone_from(&scratch.server);
}

struct Given<'e> {
    environment: &'e mut BTreeMap<OsString, OsString>,
}

impl Given<'_> {
    fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.environment.entry(name.into()).or_insert_with(|| value.as_ref().to_owned());
    }
}

/// What follows from the home, so that a look at it can leave these out: caches of those who fetch and build.
pub(super) fn is_cache(below_home: &Path) -> bool {
    const CACHES: &[&str] = &[
        ".cache",
        ".npm",
        ".cargo/registry",
        ".cargo/git",
        ".cargo/.global-cache",
        ".cargo/.package-cache",
        ".deno",
        ".bun/install/cache",
        ".local/share/uv",
        ".local/share/pipx",
        ".local/pipx",
        ".local/share/pnpm",
        ".pnpm-store",
        ".yarn",
        "go/pkg",
        ".rustup/tmp",
        "Library/Caches",
    ];
    CACHES.iter().any(|cache| below_home.starts_with(cache))
}

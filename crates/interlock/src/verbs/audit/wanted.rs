//! What is to be audited.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use interlock_fetch::{Named, clients, settings};
use tempfile::TempDir;

use super::{Audit, demo};
use crate::{
    console::Console,
    verbs::given::{here, home, pairs},
};

/// One server.
pub(super) struct Wanted {
    /// As it was named.
    pub(super) name: String,
    /// How it came here.
    pub(super) origin: Vec<String>,
    /// Its sources.
    pub(super) source: Source,
    /// How it is started, where that is known, or why it is not. What is fetched may say it itself.
    pub(super) start: Result<Start, String>,
    /// What was made for it; gone when this is dropped.
    pub(super) stage: Option<TempDir>,
}

/// Where sources are.
pub(super) enum Source {
    /// Nowhere.
    Nowhere,
    /// Here.
    Folder(PathBuf),
    /// To be fetched; whether the way to start it comes with it.
    Fetched(Named, Brings),
}

/// What a fetch is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// Only the sources: how it is started is known.
    Sources,
    /// How it is started as well.
    Server,
}

/// How a server is started.
#[derive(Clone, Default)]
pub(super) struct Start {
    pub(super) command: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// Where its sources let the environment say where files are kept: they are to be in the instance's own folder.
    pub(super) settings: BTreeMap<String, String>,
    /// Where the command was given.
    pub(super) directory: PathBuf,
    /// Whether somebody wrote the command, so that nothing is added to it.
    pub(super) is_given: bool,
    /// Whether nobody has to be asked: it is a part of this program.
    pub(super) is_ours: bool,
}

impl Start {
    /// The way that a folder says itself.
    pub(super) fn found(found: interlock_fetch::Start, folder: &Path, options: &Audit) -> Result<Self> {
        let mut environment = found.environment;
        environment.extend(pairs(&options.env)?);
        let start =
            Self { command: found.command, environment, directory: folder.to_owned(), ..Self::default() };
        start.with_settings(folder, options)
    }

    /// With what its sources ask the environment for, in place of what a client's file says: what the user's own server keeps is not what is
    /// tried on. What somebody gave by hand stays.
    pub(super) fn with_settings(mut self, folder: &Path, options: &Audit) -> Result<Self> {
        let given = pairs(&options.env)?;
        self.settings = settings(folder);
        self.settings.retain(|name, _| !given.contains_key(name));
        Ok(self)
    }
}

/// What the command line asks for.
pub(super) fn of(options: &Audit, console: &mut Console) -> Result<Vec<Wanted>> {
    if options.demo {
        return demo::wanted();
    }
    let given = match options.command.as_slice() {
        [] => None,
        [program, ..] if program.is_empty() => bail!("the command is empty"),
        command => Some(Start {
            command: command.to_vec(),
            environment: pairs(&options.env)?,
            directory: here(),
            is_given: true,
            ..Start::default()
        }),
    };
    match (&options.target, given) {
        (None, Some(start)) => Ok(vec![Wanted {
            name: start.command.join(" "),
            origin: Vec::new(),
            source: Source::Nowhere,
            start: Ok(start),
            stage: None,
        }]),
        (None, None) => of_clients(options, console),
        (Some(target), given) => Ok(vec![of_target(target, given, options)?]),
    }
}

fn of_target(target: &str, given: Option<Start>, options: &Audit) -> Result<Wanted> {
    let named: Named = target.parse()?;
    let (source, start) = match named {
        Named::Folder(folder) => {
            if !folder.exists() {
                bail!(
                    "there is no `{target}`; give a folder, a Git address, npm:NAME@VERSION or pypi:NAME@VERSION"
                );
            }
            let folder = if folder.is_dir() { folder.canonicalize()? } else { folder };
            let start = match given {
                Some(start) => Ok(start.with_settings(&folder, options)?),
                None => match interlock_fetch::start(&folder) {
                    Ok(found) => Ok(Start::found(found, &folder, options)?),
                    Err(why) => Err(why),
                },
            };
            (Source::Folder(folder), start)
        }
        named => {
            let brings = if given.is_some() { Brings::Sources } else { Brings::Server };
            let why = "it was downloaded: --run-untrusted starts it, in a folder of its own and without the network";
            (Source::Fetched(named, brings), given.ok_or_else(|| why.to_owned()))
        }
    };
    Ok(Wanted { name: target.to_owned(), origin: Vec::new(), source, start, stage: None })
}

/// The servers of the MCP clients on this machine.
fn of_clients(options: &Audit, console: &mut Console) -> Result<Vec<Wanted>> {
    let home = home();
    let (known, wrong) = clients::known(home.as_deref(), &here());
    for line in &wrong {
        console.remark(line);
    }
    if known.is_empty() {
        bail!(
            "nothing is named, and no MCP client here knows a server: give a folder, a Git address, npm:NAME@VERSION or pypi:NAME@VERSION, or \
             --demo"
        );
    }
    let given = pairs(&options.env)?;
    let wanted = |known: clients::Known| {
        let origin = vec![format!("known to {}, from {}", known.client, known.file.display())];
        let Some(clients::Command { command, mut environment, directory }) = known.command else {
            let start =
                Err("it is only reached over the network: `interlock prove --url` proves such a server"
                    .to_owned());
            return Ok(Wanted { name: known.name, origin, source: Source::Nowhere, start, stage: None });
        };
        let directory = directory.unwrap_or_else(here);
        let source = source_of(&command, &directory);
        environment.extend(given.clone());
        let mut start = Start { command, environment, directory, is_given: true, ..Start::default() };
        if let Source::Folder(folder) = &source {
            start = start.with_settings(folder, options)?;
        }
        Ok(Wanted { name: known.name, origin, source, start: Ok(start), stage: None })
    };
    known.into_iter().map(wanted).collect()
}

/// Where the sources are of what a command starts: the project around a file that it names, or the package that it runs.
fn source_of(command: &[String], directory: &Path) -> Source {
    let program =
        command.first().map(|program| program.rsplit('/').next().unwrap_or(program)).unwrap_or_default();
    let words = command.iter().skip(1);
    let kind = match program {
        "npx" | "bunx" | "pnpx" => Some("npm:"),
        "uvx" => Some("pypi:"),
        _ => None,
    };
    if let Some(kind) = kind {
        let package = words.clone().find(|word| !word.starts_with('-'));
        let named = package.and_then(|package| format!("{kind}{package}").parse().ok());
        return named.map_or(Source::Nowhere, |named| Source::Fetched(named, Brings::Sources));
    }
    let files = command.iter().map(|word| directory.join(word)).filter(|path| path.is_file());
    let projects = ["package.json", "pyproject.toml", "go.mod", "Cargo.toml", ".git"];
    let around = |file: PathBuf| {
        let is_project = |folder: &&Path| projects.iter().any(|name| folder.join(name).exists());
        file.canonicalize().ok()?.ancestors().skip(1).find(is_project).map(Path::to_owned)
    };
    // An interpreter in a folder of the system is no project.
    files.filter_map(around).next().map_or(Source::Nowhere, Source::Folder)
}

//! What a command names, found before the server stands elsewhere: relative paths become absolute, what has to be fetched is fetched, and
//! what a package runner would run in the user's folder is run without it.
//!
//! Only words that lead to something are touched. `python -m server` keeps its word and finds the user's folder on Python's path; a word that
//! names a subcommand (`interlock ledger`) stays, even where a folder has that name.

mod runners;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{Isolation, launchers};
use crate::{perturb::Inherited, perturb::find_program, request::Progress, target::Target, trouble::Trouble};

/// A command that means the same wherever it is started.
pub(crate) struct Resolved {
    pub(crate) target: Target,
    /// What was fetched for it; gone when this is dropped.
    pub(crate) stage: Option<TempDir>,
}

/// A command on its way: its words, what is added to its environment, and the folder that it was given in.
pub(super) struct Given<'g> {
    pub(super) command: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) directory: &'g Path,
    pub(super) inherited: &'g Inherited,
}

/// Finds everything. A server that somebody else runs needs nothing.
pub(crate) async fn resolve(
    target: &Target,
    isolation: &Isolation,
    progress: &dyn Progress,
) -> Result<Resolved, Trouble> {
    let Target::Command { command, environment, directory } = target else {
        return Ok(Resolved { target: target.clone(), stage: None });
    };
    let mut given = Given {
        command: command.clone(),
        environment: environment.clone(),
        directory,
        inherited: &isolation.inherited,
    };
    if !isolation.leave.in_place {
        runners::unfold(&mut given).await?;
    }
    let stage = launchers::fetch(&mut given, progress).await?;
    if !isolation.leave.in_place {
        given.make_absolute().await;
    }
    given.is_there()?;
    let Given { command, environment, .. } = given;
    Ok(Resolved { target: Target::Command { command, environment, directory: directory.clone() }, stage })
}

impl Given<'_> {
    /// The program's name without its folder.
    pub(super) fn program(&self) -> &str {
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// A variable as the server will see it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.environment.get(name).map(OsString::from);
        own.or_else(|| self.inherited.get(OsStr::new(name)).cloned())
    }

    /// What words lead to, as it is from anywhere.
    async fn make_absolute(&mut self) {
        self.make_path_absolute();
        let name = self.program().to_owned();
        let is_python = name.starts_with("python") || name == "pypy3";
        let mut words = std::mem::take(&mut self.command).into_iter();
        let mut made: Vec<String> = Vec::new();
        // A name with a slash is a path, whether or not something is there: then it is said that nothing is.
        if let Some(program) = words.next() {
            let is_path = program.contains('/') && !program.contains("{scratch}");
            made.push(if is_path { text(&self.joined(&program)) } else { program });
        }
        let mut script_is_next = INTERPRETERS.contains(&name.as_str()) || is_python;
        let mut before = String::new();
        for word in words {
            let is_module = is_python && script_is_next && matches!(before.as_str(), "-m" | "-c");
            if is_module {
                self.let_python_find_modules();
                script_is_next = false;
                made.push(word.clone());
            } else if name == "node" && LOADED_FIRST.contains(&before.as_str()) && !is_path(&word) {
                made.push(self.resolved_by_node(&word).await.unwrap_or_else(|| word.clone()));
            } else if script_is_next && !word.starts_with('-') {
                let found = self.existing(&word).map(|path| text(&path));
                script_is_next = false;
                made.push(found.unwrap_or_else(|| word.clone()));
            } else {
                made.push(self.absolute(&word));
            }
            before = word;
        }
        self.command = made;
    }

    /// A word, or the value of an option, that is a path to something.
    fn absolute(&self, word: &str) -> String {
        if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
            return format!("{option}={}", self.absolute(value));
        }
        // The folder that it stands in is the server's own now.
        let is_here = Path::new(word).components().all(|part| part == std::path::Component::CurDir);
        let found = self.existing(word).filter(|path| !is_here && (is_path(word) || path.is_file()));
        found.map_or_else(|| word.to_owned(), |path| text(&path))
    }

    /// What is there under a relative name.
    fn existing(&self, word: &str) -> Option<PathBuf> {
        if word.is_empty()
            || word.starts_with('-')
            || word.contains("{scratch}")
            || Path::new(word).is_absolute()
        {
            return None;
        }
        Some(self.joined(word)).filter(|path| path.exists())
    }

    /// Links are not followed: a virtual environment is known by the path of its Python.
    fn joined(&self, word: &str) -> PathBuf {
        self.directory.join(word).components().collect()
    }

    /// Folders of `PATH` that are relative.
    fn make_path_absolute(&mut self) {
        let Some(path) = self.variable("PATH") else { return };
        if std::env::split_paths(&path).all(|folder| folder.is_absolute()) {
            return;
        }
        let folders = std::env::split_paths(&path).map(|folder| self.directory.join(folder));
        if let Some(path) = std::env::join_paths(folders).ok().and_then(|path| path.into_string().ok()) {
            self.environment.insert("PATH".into(), path);
        }
    }

    /// Python looks for modules where it stands, which is elsewhere.
    fn let_python_find_modules(&mut self) {
        let mut path = text(self.directory);
        let before = self.variable("PYTHONPATH").and_then(|before| before.into_string().ok());
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            path = format!("{path}:{before}");
        }
        self.environment.insert("PYTHONPATH".into(), path);
    }

    /// Node looks for what is loaded first where it stands. It is asked itself, because packages say in many ways what they are loaded by.
    async fn resolved_by_node(&self, package: &str) -> Option<String> {
        const ASK: &str = "process.stdout.write(import.meta.resolve(process.argv[1]))";
        let output = tokio::process::Command::new("node")
            .args(["--input-type=module", "--eval", ASK, package])
            .current_dir(self.directory)
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = output.await.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().filter(|found| found.starts_with("file:"))
    }

    /// Whether there is such a program: said here, because the process that becomes the server could only say that it ended.
    fn is_there(&self) -> Result<(), Trouble> {
        let program = self.command.first().cloned().unwrap_or_default();
        if program.contains("{scratch}") {
            return Ok(());
        }
        let path = self.variable("PATH");
        match find_program(OsStr::new(&program), path.as_deref(), self.directory) {
            Some(_) => Ok(()),
            None => Err(Trouble::Start(program, io::Error::from(io::ErrorKind::NotFound))),
        }
    }
}

/// Programs whose first word that is no option is a script, or a folder with one.
const INTERPRETERS: &[&str] = &[
    "node", "nodejs", "tsx", "ts-node", "bun", "deno", "sh", "bash", "dash", "zsh", "ruby", "perl", "php",
    "java",
];

/// Options of Node behind which a package may be named.
const LOADED_FIRST: &[&str] = &["--import", "--require", "-r", "--loader", "--experimental-loader"];

/// Whether a word is written as a path.
fn is_path(word: &str) -> bool {
    word.contains('/') && !word.contains("://") && !word.starts_with('@') || word.starts_with('.')
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

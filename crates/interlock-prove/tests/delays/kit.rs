//! Small programs that wait for a word on their standard input, and the folders that they live in.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use interlock_model::Perturbation;
use interlock_prove::{
    launch::Launch,
    perturb::{Inherited, Leash, Observed, Perturb},
};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// What the tests themselves were started with: they need its `PATH`.
pub(crate) fn inherited() -> Inherited {
    std::env::vars_os().collect()
}

/// A folder for a program's state, and one that it does not see.
pub(crate) struct Place {
    pub(crate) scratch: TempDir,
    pub(crate) hidden: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { scratch: tempfile::tempdir().unwrap(), hidden: tempfile::tempdir().unwrap() }
    }

    /// A command in this place.
    pub(crate) fn launch<Word: Into<OsString>>(&self, words: impl IntoIterator<Item = Word>) -> Launch {
        let mut words = words.into_iter().map(Word::into);
        Launch {
            program: words.next().unwrap(),
            arguments: words.collect(),
            scratch: self.scratch.path().to_owned(),
            directory: self.scratch.path().to_owned(),
            ..Launch::default()
        }
    }

    /// A file that the program is made of.
    pub(crate) fn source(&self, name: &str, text: &str) -> PathBuf {
        let file = self.hidden.path().join(name);
        fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.scratch.path().join(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.scratch.path().join(name), text).unwrap();
    }
}

/// Compiles what must be compiled.
pub(crate) fn compile(compiler: &str, flags: &[&str], source: &Path) -> PathBuf {
    let program = source.with_extension("out");
    let done = Command::new(compiler).args(flags).arg("-o").arg(&program).arg(source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// The command of a launch, as the engine would start it.
pub(crate) fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .envs(&launch.environment)
        .current_dir(&launch.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A program that says `ready`, and answers every line with one.
pub(crate) struct Running {
    child: tokio::process::Child,
    lines: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Running {
    pub(crate) async fn start(launch: &Launch) -> Self {
        let mut child = tokio::process::Command::from(command(launch)).kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut running = Self { child, lines };
        assert_eq!(running.line().await, "ready");
        running
    }

    /// Sends a line and waits for the answer.
    pub(crate) async fn ask(&mut self, line: &str) -> String {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
        self.line().await
    }

    async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the program has ended")
    }
}

/// A program under a leash.
pub(crate) struct Led {
    pub(crate) running: Running,
    pub(crate) leash: Box<dyn Leash>,
}

impl Led {
    pub(crate) async fn start(perturb: &dyn Perturb, place: &Place, mut launch: Launch) -> Self {
        assert_eq!(perturb.applies(&launch), Ok(()));
        let leash = perturb.attach(&mut launch, place.hidden.path()).unwrap();
        Self { running: Running::start(&launch).await, leash }
    }

    /// Asks with the disturbance on.
    pub(crate) async fn ask(&mut self, perturbation: &Perturbation, line: &str) -> (String, Observed) {
        self.leash.arm(perturbation, &[1, 2]).await.unwrap();
        let answer = self.running.ask(line).await;
        (answer, self.leash.disarm().await.unwrap())
    }
}

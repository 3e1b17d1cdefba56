//! Programs that run beside us: started, waited for within bounds, and ended by their own id, also when something else fails.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

/// How long a program may take until it says where it listens.
const START: Duration = Duration::from_secs(60);
/// How long it may take to end when it is asked to, before it is made to.
const END: Duration = Duration::from_secs(15);
/// How often a program is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A program that is about to start.
pub(super) struct Starting {
    command: Command,
    shown: String,
    /// Where its complaints go.
    log: PathBuf,
}

/// One that serves; it is gone when this is dropped.
pub(super) struct Program {
    child: Child,
    url: String,
}

impl Program {
    #[expect(clippy::new_ret_no_self, reason = "a program is written down before it is started")]
    pub(super) fn new(program: &Path, log: &Path) -> Starting {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        Starting { command, shown: program.display().to_string(), log: log.to_owned() }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Asks it to end, which gives it time to end its own children.
    pub(super) fn end(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-s", "TERM", &id]).status().context("failed to run kill")?;
        ensure!(asked.success(), "the program at {} was gone before it was asked to end", self.url);
        ensure!(
            wait(&mut self.child, END)?,
            "the program at {} did not end within {END:?} when it was asked to",
            self.url
        );
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // There is nobody to tell when it fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Starting {
    pub(super) fn args(mut self, args: impl IntoIterator<Item = String>) -> Self {
        for arg in args {
            self.shown = format!("{} {arg}", self.shown);
            self.command.arg(arg);
        }
        self
    }

    pub(super) fn env(mut self, name: &str, value: &Path) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it and waits until a line of its output is where it serves.
    pub(super) fn start(mut self) -> Result<Program> {
        let log = self.file()?;
        self.command.stdout(Stdio::piped()).stderr(log);
        let mut child = self.spawn()?;
        let output = child.stdout.take().context("the output of a program was not kept")?;
        let mut program = Program { child, url: String::new() };
        let (say, said) = mpsc::channel();
        thread::spawn(move || {
            // All lines are read, also when nobody needs them any more, so that the program never waits for a reader.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        let begun = Instant::now();
        while program.url.is_empty() {
            let Ok(line) = said.recv_timeout(START.saturating_sub(begun.elapsed())) else {
                bail!("`{}` did not say where it serves; {} may say why", self.shown, self.log.display());
            };
            if line.starts_with("http://127.0.0.1:") {
                program.url = line;
            }
        }
        Ok(program)
    }

    /// Runs it to its end, however it ends, and fails if that takes too long.
    pub(super) fn run(mut self, within: Duration) -> Result<()> {
        eprintln!("$ {}", self.shown);
        let file = self.file()?;
        let copy = file.try_clone().context("failed to share a file")?;
        self.command.stdout(file).stderr(copy);
        let mut child = self.spawn()?;
        let ended = wait(&mut child, within);
        if !matches!(ended, Ok(true)) {
            let _ = child.kill();
            let _ = child.wait();
        }
        ensure!(ended?, "`{}` did not end within {within:?}; see {}", self.shown, self.log.display());
        Ok(())
    }

    fn file(&self) -> Result<File> {
        File::create(&self.log).with_context(|| format!("failed to make {}", self.log.display()))
    }

    fn spawn(&mut self) -> Result<Child> {
        self.command.spawn().with_context(|| format!("`{}` could not be started", self.shown))
    }
}

/// Whether it has ended in time.
fn wait(child: &mut Child, within: Duration) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < within {
        if child.try_wait().context("failed to wait for a program")?.is_some() {
            return Ok(true);
        }
        thread::sleep(LOOK);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, log: &Path) -> Starting {
        Program::new(Path::new("sh"), log).args(["-c".to_owned(), script.to_owned()])
    }

    #[test]
    fn a_program_serves_where_a_line_says_until_it_is_asked_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let program =
            shell("echo starting; echo http://127.0.0.1:1/mcp; exec sleep 600", &log).start().unwrap();
        assert_eq!(program.url(), "http://127.0.0.1:1/mcp");
        program.end().unwrap();
    }

    #[test]
    fn a_program_that_says_something_else_is_an_error_that_names_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let Err(error) = shell("echo no", &log).start() else { panic!("it was taken for a server") };
        assert!(error.to_string().contains(&log.display().to_string()), "{error}");
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let error = shell("exec sleep 600", &log).run(Duration::from_millis(1)).unwrap_err();
        assert!(error.to_string().contains("did not end within"), "{error}");
        shell("exit 1", &log).run(START).unwrap();
    }
}

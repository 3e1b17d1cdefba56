//! Ends a server when its owner is gone, however the owner went.
//!
//! The keeper is a shell that starts the server and then waits for the end of its own standard input. The owner holds the other
//! end of that pipe. Dropping the owner closes it; so does the kernel when the owner's process dies, which no `Drop` survives.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

/// `$1` is the signal that ends the server, `$2` its folder, the rest its command line. It says the server's process id. Ctrl-C reaches
/// everyone on the terminal, the shell too, which has to outlive it to clean up; a server that is started again must not inherit that.
///
/// Orders come line by line. A server that is killed takes its children with it, as a machine would that lost its power.
const SCRIPT: &str = r#"
signal=$1 folder=$2; shift 2
serve() {
  (trap - INT TERM HUP; exec "$@") >>"$folder/log" 2>&1 </dev/null &
  server=$!
  echo "$server"
}
serve "$@"
trap '' INT TERM HUP
while read -r order; do
  case $order in
    kill)
      [ -z "$server" ] || {
        kill -s KILL "$server" $(cat "/proc/$server/task/$server/children" 2>/dev/null)
        wait "$server"
      }
      server=
      echo 0
      ;;
    start) serve "$@" ;;
  esac
done
[ -z "$server" ] || {
  kill -s "$signal" "$server"
  wait "$server"
}
rm -rf -- "$folder"
"#;

/// A running server and its folder.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    pipe: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    server: u32,
    folder: TempDir,
}

/// How a server is told to end.
#[derive(Debug, Clone, Copy)]
pub(super) enum EndBy {
    /// It has nothing worth saving.
    Kill,
    /// It must end its own children first.
    Quit,
}

impl Keeper {
    /// Starts a command line whose log and state go to the folder.
    pub(super) fn start(folder: TempDir, end_by: EndBy, command: &[&str]) -> io::Result<Self> {
        let signal = match end_by {
            EndBy::Kill => "KILL",
            EndBy::Quit => "QUIT",
        };
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "keeper", signal])
            .arg(folder.path())
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The shell announces the death of its child; nobody may be left to read that, and a broken pipe would end it early.
            .stderr(Stdio::null())
            .spawn()?;
        let pipe = shell.stdin.take();
        let Some(answers) = shell.stdout.take() else {
            return Err(io::Error::other("the keeper has no standard output"));
        };
        let mut keeper = Self { shell, pipe, answers: BufReader::new(answers), server: 0, folder };
        keeper.server = keeper.answer()?;
        Ok(keeper)
    }

    /// Ends the server at once, without a chance to save anything, and keeps its folder.
    pub(super) fn kill(&mut self) -> io::Result<()> {
        self.order("kill").map(drop)
    }

    /// Starts the same command line again, in the same folder. The server before it must have ended.
    pub(super) fn start_again(&mut self) -> io::Result<()> {
        self.server = self.order("start")?;
        Ok(())
    }

    fn order(&mut self, order: &str) -> io::Result<u32> {
        if let Some(pipe) = &mut self.pipe {
            writeln!(pipe, "{order}")?;
        }
        self.answer()
    }

    fn answer(&mut self) -> io::Result<u32> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        line.trim().parse().map_err(|_| io::Error::other("the keeper did not say the server's process id"))
    }

    /// The server's process id.
    pub(super) fn pid(&self) -> u32 {
        self.server
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether the server still runs. One that has ended stays a zombie until the keeper collects it.
    pub(super) fn is_serving(&self) -> bool {
        let stat =
            fs::read_to_string(PathBuf::from(format!("/proc/{}/stat", self.server))).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with('Z'))
    }

    /// What the server has written so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap_or_default()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // The shell ends once the server has; there is nobody to tell if it cannot be waited for.
        let _ = self.shell.wait();
    }
}

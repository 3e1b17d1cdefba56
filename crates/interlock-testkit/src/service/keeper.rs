//! Ends a server when its owner is gone, however the owner went.
//!
//! The keeper is a shell that starts the server and then waits for the end of its own standard input. The owner holds the other
//! end of that pipe. Dropping the owner closes it; so does the kernel when the owner's process dies, which no `Drop` survives.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use tempfile::TempDir;

/// `$1` is the signal that ends the server, `$2` its folder, the rest its command line. It says the server's process id. Ctrl-C reaches
/// everyone on the terminal, the shell too, which has to outlive it to clean up.
const SCRIPT: &str = r#"
signal=$1 folder=$2; shift 2
"$@" >"$folder/log" 2>&1 &
server=$!
echo "$server"
trap '' INT TERM HUP
cat >/dev/null
kill -s "$signal" "$server"
wait "$server"
rm -rf -- "$folder"
"#;

/// A running server and its folder.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    pipe: Option<ChildStdin>,
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
        let mut line = String::new();
        if let Some(stdout) = shell.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let server = line
            .trim()
            .parse()
            .map_err(|_| io::Error::other("the keeper did not say the server's process id"))?;
        Ok(Self { shell, pipe, server, folder })
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

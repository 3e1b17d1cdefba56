//! A server's process, with all that it starts: told to end, ended, and reaped.
//!
//! A wrapper such as `npx` starts the server as a child of its own, so what is signalled is the whole group. The number of a group is only
//! certain while its first process has not been reaped; so its end is seen through a descriptor of the process, the rest of the group is
//! killed, and only then is it reaped.

use std::{
    collections::BTreeMap,
    os::fd::OwnedFd,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Arc, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::{
    io::unix::AsyncFd,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::Mutex,
};

use super::{Phase, Phases, StartFailure};

mod tail;

pub use self::tail::{Heard, Tail};

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments; never through a shell.
    pub command: Vec<String>,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs; where we do, if nothing is said.
    pub folder: Option<PathBuf>,
}

/// A process that runs, or whose end nobody has collected yet. Dropped, it is killed with its group.
#[derive(Debug)]
pub struct Process {
    /// Says when the process has ended, and keeps its number from being given to another.
    handle: AsyncFd<OwnedFd>,
    child: Mutex<Child>,
    group: Group,
    tail: Arc<Tail>,
}

/// Its pipes.
#[derive(Debug)]
pub struct Pipes {
    /// Closed by dropping it, which most servers take as a sign to end.
    pub stdin: ChildStdin,
    /// Where it answers.
    pub stdout: ChildStdout,
}

/// A group that is killed when this is dropped, unless it was disarmed.
#[derive(Debug)]
struct Group {
    pid: Pid,
    /// Held while a signal is sent, so that none goes to whoever gets the number next.
    is_reaped: std::sync::Mutex<bool>,
}

impl Process {
    /// Starts it in a group of its own. What it says on its error output goes to `heard`, line by line, and the end of it is kept.
    ///
    /// # Errors
    ///
    /// [`StartFailure`] if there is no such program, or it cannot be run.
    pub fn start(launch: &Launch, heard: Heard) -> Result<(Self, Pipes), StartFailure> {
        let Some((program, arguments)) = launch.command.split_first() else {
            return Err(StartFailure::new("its command is empty"));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(&launch.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal reaches the guard alone, which ends its servers in order.
            .process_group(0)
            .kill_on_drop(true);
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        let mut child =
            command.spawn().map_err(|error| StartFailure::new(format!("cannot run `{program}`: {error}")))?;
        let (Some(pid), Some(stdin), Some(stdout)) = (id(&child), child.stdin.take(), child.stdout.take())
        else {
            return Err(StartFailure::new(format!("`{program}` ended as it began")));
        };
        let group = Group { pid, is_reaped: false.into() };
        let handle =
            watched(pid).map_err(|error| StartFailure::new(format!("cannot watch `{program}`: {error}")))?;
        let tail = Arc::<Tail>::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(listen(errors, Arc::clone(&tail), heard));
        }
        Ok((Self { handle, child: Mutex::new(child), group, tail }, Pipes { stdin, stdout }))
    }

    /// Its number, for logs.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.group.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// The end of what it said on its error output.
    #[must_use]
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Ready when the process has ended. What it started may still run, and it has not been reaped.
    ///
    /// # Cancel safety
    ///
    /// Dropping it only stops the waiting.
    pub async fn ended(&self) {
        // An error means that the runtime is going down: there is nothing to wait for.
        let _ = self.handle.readable().await;
    }

    /// Ends it and all that it started: waits for it to see that its input is closed, asks it with a signal, kills it, each after half the
    /// grace; then reaps it. [`Phase::Now`] means to kill it at once. Says how it ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves it where it was; another call goes on from there.
    pub async fn end(&self, grace: Duration, phases: &Phases) -> Option<ExitStatus> {
        let half = grace / 2;
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.group.signal(signal);
            }
            tokio::select! {
                () = self.ended() => break,
                () = tokio::time::sleep(half) => {}
                () = phases.reached(Phase::Now) => break,
            }
        }
        self.kill().await
    }

    /// Kills what is left of it, and reaps it.
    pub async fn kill(&self) -> Option<ExitStatus> {
        self.group.signal(Signal::KILL);
        let mut child = self.child.lock().await;
        self.ended().await;
        self.group.retire();
        child.wait().await.ok()
    }

    /// Why it ended, for people: its status alone, and with its last words. Kills what is left of it, and reaps it.
    pub async fn obituary(&self) -> (String, String) {
        let status = self.kill().await;
        self.tail.finished(Duration::from_millis(200)).await;
        let status = status.map_or_else(|| "ended".to_owned(), told);
        (format!("the server's process {status}"), self.tail.added_to(&format!("its process {status}")))
    }
}

impl Group {
    fn signal(&self, signal: Signal) {
        let is_reaped = self.is_reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_reaped {
            // All of it may be gone already, which is what we want.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Its first process is about to be reaped: from then on the number may belong to somebody else.
    fn retire(&self) {
        *self.is_reaped.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A descriptor of a process that is readable once it has ended.
#[expect(
    deprecated,
    reason = "an owned descriptor stays what it is for as long as it lives; what replaces this is unsafe, which we forbid"
)]
fn watched(pid: Pid) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(pidfd_open(pid, PidfdFlags::NONBLOCK)?, tokio::io::Interest::READABLE)
}

fn id(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// A status as people say it.
fn told(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(0), _) => "ended by itself".to_owned(),
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

async fn listen(errors: ChildStderr, tail: Arc<Tail>, heard: Heard) {
    tail.hear(errors, heard).await;
}

#[cfg(test)]
mod tests;

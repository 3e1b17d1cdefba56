//! A server's process, with all that it starts: gone, and reaped, when we are done with it.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::Stdio as Pipe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
};

use super::{Scratch, orphans};
use crate::{connect::Stdio, isolate::PRELOAD, launch::Launch, trouble::Trouble};

pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// The instance's folder, by which what it leaves behind is known.
    root: PathBuf,
}

/// Of what a server says on its error output, so much is kept for the reason of a verdict.
const KEPT: usize = 2000;
/// How long the end of a killed process is waited for, in milliseconds.
const GONE_WITHIN_MS: u32 = 2000;

impl Process {
    /// Starts it; `wrapped` is the command that becomes it, if it is confined.
    pub(crate) fn start(
        launch: &Launch,
        wrapped: Option<Vec<OsString>>,
        scratch: &Scratch,
    ) -> Result<(Self, Stdio), Trouble> {
        let mut command = match wrapped.as_deref().and_then(<[OsString]>::split_first) {
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).envs(launch.environment.iter().filter(|(name, _)| *name != PRELOAD));
                command
            }
            None => {
                let mut command = Command::new(&launch.program);
                command.args(&launch.arguments).envs(&launch.environment);
                command
            }
        };
        command
            .current_dir(&launch.directory)
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            // A group of its own, so that what a wrapper such as npx starts is ended with it, and Ctrl-C reaches us first.
            .process_group(0)
            .kill_on_drop(true);
        let name = || launch.program.to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| Trouble::Start(name(), error))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let complaints = Arc::<Mutex<Vec<u8>>>::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(listen(errors, Arc::clone(&complaints)));
        }
        let process = Self { child, group, complaints, root: scratch.root.clone() };
        let mut process = process;
        match (process.child.stdin.take(), process.child.stdout.take()) {
            (Some(input), Some(output)) => Ok((process, Stdio::new(input, output, &scratch.server))),
            _ => Err(Trouble::Ended(String::new())),
        }
    }

    /// Tells it to end, and does not wait for it.
    pub(crate) fn signal_end(&self) {
        self.signal(Signal::KILL);
    }

    /// Ends it now and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        self.signal_end();
        let _ = self.child.wait().await;
        self.group = None;
        orphans::end_those_of(&self.root);
    }

    /// Waits for it to end by itself, for so long; then ends it.
    pub(crate) async fn wait(&mut self, patience: Duration) {
        let _ = tokio::time::timeout(patience, self.child.wait()).await;
        self.kill().await;
    }

    /// How it ended, with the last words of its error output.
    pub(crate) async fn last_words(&mut self) -> String {
        let status = tokio::time::timeout(Duration::from_millis(200), self.child.wait()).await;
        let status = match status {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        let bytes = self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        let last: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        if last.is_empty() { status } else { format!("{status}: {}", last.join(" / ")) }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be gone already; that is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.group.is_none() {
            return;
        }
        self.signal_end();
        // Waited for, so that nothing writes into a folder that is about to be removed, and nobody is left behind as we end. What is killed
        // is gone in a moment; one that the kernel holds on to is not worth more.
        for _ in 0..GONE_WITHIN_MS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        orphans::end_those_of(&self.root);
    }
}

async fn listen(mut errors: tokio::process::ChildStderr, complaints: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(length) = errors.read(&mut buffer).await {
        if length == 0 {
            return;
        }
        let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(buffer.iter().take(length));
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}

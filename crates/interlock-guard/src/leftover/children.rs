//! Programs end with the guard, also when it has no time to end them: a small process beside it waits for that, and has nothing else to do.
//!
//! The end of their input tells most servers to end, but not all, and a parent-death signal reaches only the first process of a group.

use std::{
    collections::BTreeSet,
    fmt,
    io::{self, BufRead, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Journal;

/// The programs of a guard.
#[derive(Default)]
pub struct Children {
    journal: Option<Arc<Journal>>,
    watcher: Option<Watcher>,
}

struct Watcher {
    /// Closed by the kernel when the guard is gone, for whatever reason.
    input: Mutex<Option<ChildStdin>>,
    process: Mutex<Child>,
}

impl Children {
    /// Programs that are written down, if there is somewhere to.
    #[must_use]
    pub fn new(journal: Option<Arc<Journal>>) -> Self {
        Self { journal, watcher: None }
    }

    /// And that are ended by this command when the guard is gone: one that calls [`end_with`] with its input.
    ///
    /// # Errors
    ///
    /// The command cannot be started.
    pub fn watched_by(self, mut command: Command) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C in a terminal is for the guard.
            .process_group(0)
            .spawn()?;
        let watcher = Watcher { input: Mutex::new(process.stdin.take()), process: Mutex::new(process) };
        Ok(Self { watcher: Some(watcher), ..self })
    }

    /// One was started.
    pub(crate) fn runs(&self, pid: u32) {
        self.tell(format_args!("+{pid}\n"));
        if let Some(journal) = &self.journal {
            journal.runs(pid);
        }
    }

    /// One has ended, with all that it had started.
    pub(crate) fn ended(&self, pid: u32) {
        self.tell(format_args!("-{pid}\n"));
        if let Some(journal) = &self.journal {
            journal.ended(pid);
        }
    }

    fn tell(&self, words: fmt::Arguments<'_>) {
        if let Some(watcher) = &self.watcher {
            let mut input = watcher.input.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(input) = &mut *input {
                // If it is gone, the end of their input is all that programs are told.
                let _ = input.write_all(words.to_string().as_bytes());
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It ends what is left, which is nothing if the guard ends in order, and then itself.
        drop(self.input.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.process.get_mut().unwrap_or_else(PoisonError::into_inner).wait();
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Children").field("is_watched", &self.watcher.is_some()).finish_non_exhaustive()
    }
}

/// What the process beside a guard does: takes note of its programs until the input ends, and then ends those that are left.
///
/// # Errors
///
/// The input cannot be read.
pub fn end_with(input: impl BufRead) -> io::Result<()> {
    let mut groups = BTreeSet::new();
    for line in input.lines() {
        let line = line?;
        let (sign, number) = line.split_at_checked(1).unwrap_or_default();
        let Some(group) = number.parse().ok().and_then(Pid::from_raw) else { continue };
        match sign {
            "+" => groups.insert(group.as_raw_nonzero()),
            _ => groups.remove(&group.as_raw_nonzero()),
        };
    }
    for group in groups {
        if let Some(group) = Pid::from_raw(group.get()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    Ok(())
}

//! Orders to the tracers in a server's processes, and their answers. What they say is the server's word: bounded, and never trusted.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use interlock_model::{Perturbation, TickKind};
use rustix::{fs::OFlags, io::Errno};
use tokio::time::{Instant as Deadline, sleep, timeout_at};

use super::super::{Leash, Observed, Tick, windows};
use crate::clock::Instant;

/// The longest pause of a thread.
const LONGEST: Duration = Duration::from_millis(10);

/// What all pauses in one process may come to in a run.
const BUDGET: Duration = Duration::from_millis(600);

/// How long all tracers may take to obey: their threads wait for the interpreter's lock like any other.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long they may take where sources have to be compiled once more.
const COMPILED_WITHIN: Duration = Duration::from_secs(8);

/// How often we look whether it has.
const LOOK: Duration = Duration::from_millis(1);

/// What is read of one answer at most.
const MOST: u64 = 256 * 1024;

/// More processes than this are not led.
const PROCESSES: usize = 64;

/// The hold on the Python processes of one server.
pub(super) struct Hold {
    /// Where they have their pipes.
    folder: PathBuf,
    run: u64,
    /// Those that were armed, by process id.
    led: Vec<u32>,
    /// Why something was not obeyed.
    trouble: Option<String>,
}

impl Hold {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, run: 0, led: Vec::new(), trouble: None }
    }

    /// The processes that listen, or did.
    fn listeners(&self) -> io::Result<Vec<u32>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            ids.extend(name.to_str().and_then(|name| name.strip_suffix(".pipe")?.parse::<u32>().ok()));
        }
        ids.sort_unstable();
        ids.truncate(PROCESSES);
        Ok(ids)
    }

    /// Sends an order; whether there is somebody to obey it.
    fn order(&self, process: u32, order: &str) -> io::Result<bool> {
        let pipe = self.folder.join(format!("{process}.pipe"));
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        match OpenOptions::new().write(true).custom_flags(flags).open(pipe) {
            Ok(mut pipe) => pipe.write_all(order.as_bytes()).map(|()| true),
            // Nobody has the other end: the process is gone.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for the answer of a process, and takes it away.
    async fn answer(&self, process: u32, word: &str, until: Deadline) -> io::Result<String> {
        let path = self.folder.join(format!("{process}.{}.{word}", self.run));
        let there = async {
            while !path.exists() {
                sleep(LOOK).await;
            }
        };
        if timeout_at(until, there).await.is_err() {
            let why = format!("the tracer in process {process} does not answer");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        let text = read(&path)?;
        fs::remove_file(&path)?;
        Ok(text)
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[async_trait]
impl Leash for Hold {
    async fn arm(&mut self, perturbation: &Perturbation, _ids: &[i64]) -> io::Result<()> {
        self.run += 1;
        let (order, patience) = match perturbation {
            Perturbation::PythonSwitches { seed } => {
                let (longest, budget) = (LONGEST.as_nanos(), BUDGET.as_nanos());
                (format!("arm {} {seed} {longest} {budget}\n", self.run), PATIENCE)
            }
            Perturbation::HeldWindow { windows } => {
                fs::write(self.folder.join("windows.json"), windows::told(windows).to_string())?;
                (format!("hold {} 0\n", self.run), COMPILED_WITHIN)
            }
            other => {
                let why = format!("the tracer for Python cannot do `{}`", other.name());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
        };
        self.led.clear();
        self.trouble = None;
        for process in self.listeners()? {
            if self.order(process, &order)? {
                self.led.push(process);
            }
        }
        if self.led.is_empty() {
            self.trouble = Some("no process of the server has loaded the tracer for Python".to_owned());
        }
        let until = Deadline::now() + patience;
        for process in self.led.clone() {
            if let Err(error) = self.answer(process, "armed", until).await {
                self.trouble = Some(error.to_string());
            }
        }
        Ok(())
    }

    async fn disarm(&mut self) -> io::Result<Observed> {
        let order = format!("disarm {} 0\n", self.run);
        let until = Deadline::now() + PATIENCE;
        let mut ticks = Vec::new();
        for process in std::mem::take(&mut self.led) {
            // A process may have ended since: by itself, or because the set says so.
            if !self.order(process, &order)? {
                continue;
            }
            match self.answer(process, "free", until).await {
                Ok(text) => ticks.extend(text.lines().filter_map(tick)),
                Err(error) => self.trouble = Some(error.to_string()),
            }
        }
        ticks.sort_by_key(|tick: &Tick| tick.at);
        Ok(Observed { ticks, diverged: self.trouble.take(), ..Observed::default() })
    }
}

/// `TIME pause FILE:LINE`.
fn tick(line: &str) -> Option<Tick> {
    let (at, on) = line.split_once(' ')?;
    Some(Tick { request: None, at: Instant(at.parse().ok()?), kind: TickKind::Wait, on: on.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_without_listeners_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.pipe"), "").unwrap();
        let mut hold = Hold::new(folder.path().to_owned());
        hold.arm(&Perturbation::PythonSwitches { seed: 0 }, &[]).await.unwrap();
        let seen = hold.disarm().await.unwrap();
        assert_eq!(
            seen.diverged.as_deref(),
            Some("no process of the server has loaded the tracer for Python")
        );
        let other = hold.arm(&Perturbation::None, &[]).await;
        assert_eq!(other.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_line_that_is_no_tick_is_left_out() {
        assert_eq!(tick("12 pause x.py:3").unwrap().on, "pause x.py:3");
        for line in ["", "12", "x pause", "-1 pause x", "99999999999999999999 pause x"] {
            assert_eq!(tick(line), None, "{line}");
        }
    }
}

//! Files that take longer, as on a busy disk: a shim in front of the C library pauses at some file operations and notes them all.
//!
//! Nothing is reordered and nothing fails that would not have; an operation only takes longer, which an operating system may do to
//! anybody at any time. So an illegal outcome under it is a broken server.
//!
//! Which operations pause follows from the seed. A *look* tells something (open to read, read, stat, access, list), a *change* alters
//! something (open to create or empty, write, rename, unlink, mkdir, …). Low seeds are the patterns that most races need:
//!
//! | seed | what pauses |
//! |---|---|
//! | 0 | every look, afterwards, a little: all callers have looked before the first of them changes anything |
//! | 1 | every change, before it happens, a little; a file that was opened to be rewritten stays empty for a while |
//! | 2 | the first look at what is there, afterwards, long: the others overtake that caller |
//! | 3 | the first change, long |
//! | 4, 5 | everything, very little, and what the first, the second thread does, a little: the others overtake it |
//! | 6… | a quarter of the operations, 1 to 30 ms, before or after, as chance has it |
//!
//! For the same seed the same operations of a thread pause; which thread is the first depends on the server. Pauses of one run add up
//! to [`BUDGET`] at most.

mod control;

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use interlock_model::Perturbation;

use self::control::Control;
use super::{
    Leash, Observed, Perturb, Tick,
    program::{Image, Inherited, Program, variable},
};
use crate::launch::Launch;

/// The longest pause.
const LONGEST: Duration = Duration::from_millis(30);

/// What all pauses of a run may come to. A server that does a thousand small reads shall not take a minute.
pub const BUDGET: Duration = Duration::from_millis(400);

/// `shim.c`, compiled.
const SHIM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slow_files.so"));

/// Where the shim finds its control file.
const CONTROL: &str = "INTERLOCK_SLOW_FILES";

const PRELOAD: &str = "LD_PRELOAD";

/// Start programs of another kind than their own; what counts is what they start.
const STARTERS: &[&str] = &["uv", "uvx"];

/// Ask the kernel without their C library.
const OWN_CALLS: &[&str] = &["bun", "bunx"];

/// Slows the file operations of a server and of the processes that it starts.
#[derive(Debug, Clone, Default)]
pub struct SlowFiles {
    inherited: Inherited,
}

impl SlowFiles {
    /// For servers that are started in this environment.
    #[must_use]
    pub fn new(inherited: Inherited) -> Self {
        Self { inherited }
    }
}

impl Perturb for SlowFiles {
    fn name(&self) -> &'static str {
        "slow-files"
    }

    fn applies(&self, launch: &Launch) -> Result<(), String> {
        let program = Program::behind(launch, &self.inherited)?;
        if program.names().any(|name| STARTERS.contains(&name)) {
            return Ok(());
        }
        if let Some(name) = program.names().find(|name| OWN_CALLS.contains(name)) {
            return Err(format!("{name} makes its own system calls: its file operations cannot be slowed"));
        }
        let name = program.names().last().unwrap_or_default();
        match program.image {
            Image::Dynamic => Ok(()),
            Image::Go => Err(format!(
                "{name} is written in Go, which makes its own system calls: its file operations cannot be slowed"
            )),
            Image::Static => {
                Err(format!("{name} is statically linked: its file operations cannot be slowed"))
            }
            Image::Musl => {
                Err(format!("{name} uses musl instead of glibc: its file operations cannot be slowed"))
            }
            Image::Other => Err(format!("{name} is not a program of this system")),
        }
    }

    fn attach(&self, launch: &mut Launch, folder: &Path) -> io::Result<Box<dyn Leash>> {
        let shim = folder.join("slow_files.so");
        // The loader takes both as the end of a name and knows no way to quote them.
        if shim.as_os_str().as_encoded_bytes().iter().any(|&byte| byte == b':' || byte.is_ascii_whitespace())
        {
            let why =
                format!("{} has a colon or a space in its path; {PRELOAD} cannot name it", shim.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        fs::write(&shim, SHIM)?;
        let control_file = folder.join("slow_files.control");
        let control = Control::create(&control_file)?;
        let preload = joined(variable(launch, &self.inherited, PRELOAD), &shim);
        launch.environment.insert(PRELOAD.into(), preload);
        launch.environment.insert(CONTROL.into(), control_file.into());
        let mut scratch = vec![launch.scratch.clone()];
        scratch.extend(launch.scratch.canonicalize());
        Ok(Box::new(Hold { control, scratch }))
    }
}

/// What somebody else loads stays in front.
fn joined(existing: Option<&OsStr>, ours: &Path) -> OsString {
    let mut all = existing.unwrap_or_default().to_owned();
    if !all.is_empty() {
        all.push(":");
    }
    all.push(ours);
    all
}

struct Hold {
    control: Control,
    /// The instance's folder by the names that the server may see it under.
    scratch: Vec<PathBuf>,
}

#[async_trait]
impl Leash for Hold {
    async fn arm(&mut self, perturbation: &Perturbation, _ids: &[i64]) -> io::Result<()> {
        let Perturbation::SlowFiles { seed } = *perturbation else {
            let why = format!("the file shim cannot do `{}`", perturbation.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        };
        self.control.arm(seed, LONGEST, BUDGET)
    }

    async fn disarm(&mut self) -> io::Result<Observed> {
        let noted = self.control.disarm()?;
        let mut ticks: Vec<Tick> =
            noted.ticks.into_iter().map(|tick| Tick { on: self.shortened(&tick.on), ..tick }).collect();
        ticks.sort_by_key(|tick| tick.at);
        let diverged = (noted.loaded == 0)
            .then(|| "no process of the server has loaded the file shim: nothing was slowed".to_owned());
        Ok(Observed { ticks, choices: Vec::new(), unnatural: false, diverged })
    }
}

impl Hold {
    /// `read /tmp/x/memory.json` is `read memory.json` where `/tmp/x` is the instance's folder.
    fn shortened(&self, on: &str) -> String {
        let Some((word, path)) = on.split_once(' ') else { return on.to_owned() };
        let below = self.scratch.iter().find_map(|scratch| Path::new(path).strip_prefix(scratch).ok());
        match below {
            Some(below) if below.as_os_str().is_empty() => format!("{word} ."),
            Some(below) => format!("{word} {}", below.display()),
            None => on.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_already_stays_in_front() {
        let ours = Path::new("/x/slow.so");
        assert_eq!(joined(None, ours), "/x/slow.so");
        assert_eq!(joined(Some(OsStr::new("")), ours), "/x/slow.so");
        assert_eq!(joined(Some(OsStr::new("/y/faketime.so")), ours), "/y/faketime.so:/x/slow.so");
    }

    #[test]
    fn a_folder_that_the_loader_cannot_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a b");
        fs::create_dir(&odd).unwrap();
        let refused = SlowFiles::default().attach(&mut Launch::default(), &odd).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }

    #[tokio::test]
    async fn a_hold_that_nobody_has_loaded_says_so_and_another_disturbance_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut hold = SlowFiles::default().attach(&mut Launch::default(), folder.path()).unwrap();
        hold.arm(&Perturbation::SlowFiles { seed: 0 }, &[]).await.unwrap();
        let seen = hold.disarm().await.unwrap();
        assert!(seen.ticks.is_empty());
        assert!(seen.diverged.is_some());
        let other = hold.arm(&Perturbation::None, &[]).await;
        assert_eq!(other.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

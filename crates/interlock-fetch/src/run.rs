//! A client that is run to its end: without what is not its business, within limits of time, size and number, and ended with all that it
//! started.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The environment, as the binary hands it on.
pub type Environment = BTreeMap<OsString, OsString>;

/// How much may be fetched.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// All clients together.
    pub time: Duration,
    /// In bytes, once unpacked.
    pub size: u64,
    /// In files and folders.
    pub files: u64,
    /// In folders that lie in each other.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(180), size: 1 << 30, files: 200_000, depth: 64 }
    }
}

/// Receives the progress of a fetch and may cancel it.
pub trait Watcher {
    /// One short line.
    fn doing(&self, what: &str);
    /// Whether to stop.
    fn enough(&self) -> bool;
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The client is not there.
    #[error("`{0}` could not be started ({1}); install it, or give a folder")]
    NoClient(String, io::Error),
    /// The client failed; what it said last.
    #[error("`{0}` failed: {1}")]
    Failed(String, String),
    /// Too slow.
    #[error("fetching took more than {} s", .0.as_secs())]
    Slow(Duration),
    /// Too large.
    #[error("it is larger than {} MiB", .0 >> 20)]
    Large(u64),
    /// Too many files.
    #[error("it has more than {0} files")]
    Many(u64),
    /// Folders in folders.
    #[error("its folders are deeper than {0}")]
    Deep(usize),
    /// Somebody has had enough.
    #[error("it was interrupted")]
    Stopped,
    /// The folder is not in the repository, or not a folder.
    #[error("there is no folder `{0}` in it")]
    NoFolder(String),
    /// The fetched package or repository is not the one that the user asked for.
    #[error("{0}")]
    Odd(String),
    /// Files.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The environment variables that `git`, `npm` and `pip` keep: search path, language, proxy and certificates. None identifies the user.
const PASSED: &[&str] = &[
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "all_proxy",
];

/// Of what a client complains so much is kept.
const KEPT: usize = 600;

/// How often is looked whether it is too much.
const OFTEN: Duration = Duration::from_millis(100);

/// One fetch: its limits, since when it runs, and who looks on.
pub(crate) struct Run<'r> {
    pub(crate) limits: Limits,
    pub(crate) begin: Instant,
    pub(crate) environment: &'r Environment,
    pub(crate) watcher: &'r dyn Watcher,
}

impl Run<'_> {
    /// The environment for `git`, `npm` and `pip`: the variables in [`PASSED`], without any credential.
    pub(crate) fn clean(&self) -> Environment {
        let known = |name: &&str| {
            self.environment.get(OsStr::new(name)).map(|value| (OsString::from(name), value.clone()))
        };
        PASSED.iter().filter_map(known).collect()
    }

    /// Runs a client with exactly this environment, which may fill the folder, and gives what it printed.
    pub(crate) fn client(
        &self,
        command: &[&OsStr],
        environment: &Environment,
        folder: &Path,
    ) -> Result<String, FetchError> {
        let Some((program, words)) = command.split_first() else { return Ok(String::new()) };
        let said = command.iter().take(3).map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(environment).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            command.spawn().map_err(|error| FetchError::NoClient(program.to_string_lossy().into(), error))?;
        // Read beside the waiting: a client that fills its pipe waits for us.
        let out = child.stdout.take().map(|pipe| thread::spawn(move || kept(pipe)));
        let err = child.stderr.take().map(|pipe| thread::spawn(move || kept(pipe)));
        let ended = self.wait(&mut child, folder);
        if ended.is_err() {
            end(&mut child);
        }
        let text = |reader: Option<thread::JoinHandle<String>>| {
            reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
        };
        let (out, err) = (text(out), text(err));
        if ended? {
            return Ok(out);
        }
        let words: String = err.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let words: Vec<char> = words.trim().chars().collect();
        let last = words.get(words.len().saturating_sub(KEPT)..).unwrap_or_default();
        Err(FetchError::Failed(said, last.iter().collect()))
    }

    /// Whether the client succeeded, unless it is too much before that.
    fn wait(&self, child: &mut Child, folder: &Path) -> Result<bool, FetchError> {
        loop {
            if let Some(status) = child.try_wait()? {
                self.measure(folder)?;
                return Ok(status.success());
            }
            if self.watcher.enough() {
                return Err(FetchError::Stopped);
            }
            if self.begin.elapsed() > self.limits.time {
                return Err(FetchError::Slow(self.limits.time));
            }
            self.measure(folder)?;
            thread::sleep(OFTEN);
        }
    }

    /// Whether a folder is within the limits. Links are not followed.
    pub(crate) fn measure(&self, folder: &Path) -> Result<(), FetchError> {
        let (mut size, mut files) = (0_u64, 0_u64);
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            if depth > self.limits.depth {
                return Err(FetchError::Deep(self.limits.depth));
            }
            // What a client has just removed is no longer there.
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                files += 1;
                let Ok(about) = entry.metadata() else { continue };
                size = size.saturating_add(about.len());
                if about.is_dir() {
                    folders.push((entry.path(), depth + 1));
                }
                if size > self.limits.size {
                    return Err(FetchError::Large(self.limits.size));
                }
                if files > self.limits.files {
                    return Err(FetchError::Many(self.limits.files));
                }
            }
        }
        Ok(())
    }
}

/// The beginning and all the rest of a pipe, of which only the beginning and the end are kept.
fn kept(mut pipe: impl Read) -> String {
    const MOST: usize = 64 << 10;
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut piece) {
        text.extend_from_slice(piece.get(..read).unwrap_or_default());
        if text.len() > 2 * MOST {
            text.drain(..MOST);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Ends a client and all that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

//! A throwaway PostgreSQL.

use std::{
    ffi::OsStr,
    fs, io,
    net::SocketAddr,
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use super::{
    ATTEMPTS, Setup, StartError, becomes_ready,
    certificate::Certificate,
    clock::{self, ShiftedClock},
    free_port,
    keeper::{EndBy, Keeper},
    on_path, refused, start_again,
};

/// A PostgreSQL server of this test's own: one empty database, one user `postgres`, no password, loopback only.
#[derive(Debug)]
pub struct Postgres {
    keeper: Keeper,
    address: SocketAddr,
    programs: PathBuf,
    clock: Option<ShiftedClock>,
    roots: Option<String>,
}

impl Postgres {
    /// Makes a cluster, starts it and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start() -> Result<Self, StartError> {
        Self::start_as(Setup::default())
    }

    /// The same, set up otherwise.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start_as(setup: Setup) -> Result<Self, StartError> {
        let programs =
            programs().ok_or(StartError::Missing { program: "postgres", package: "postgresql" })?;
        let user = SystemUser::find().map_err(refused("find the user that PostgreSQL may run as"))?;
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            let address = free_port().map_err(refused("find a free port"))?;
            let folder = tempfile::tempdir().map_err(refused("make a temporary folder"))?;
            let certificate = setup.tls.then(|| Certificate::in_folder(folder.path())).transpose()?;
            if let Some(Certificate { file, key, .. }) = &certificate {
                for file in [file, key] {
                    user.own(Path::new(file))
                        .map_err(refused("hand the certificate to PostgreSQL's user"))?;
                }
            }
            user.own(folder.path()).map_err(refused("hand the temporary folder to PostgreSQL's user"))?;
            let cluster = folder.path().join("cluster");
            let made =
                user.run(&programs.join("initdb"), &initdb(&cluster)).map_err(refused("run initdb"))?;
            if !made.status.success() {
                log = String::from_utf8_lossy(&made.stderr).into_owned();
                continue;
            }
            let clock = setup.own_clock.then(|| ShiftedClock::in_folder(folder.path())).transpose()?;
            let prefix = clock.as_ref().map(ShiftedClock::prefix).unwrap_or_default();
            let mut command = serve(&user, &programs, &cluster, folder.path(), address);
            if let Some(Certificate { file, key, .. }) = &certificate {
                for setting in ["ssl=on", &format!("ssl_cert_file={file}"), &format!("ssl_key_file={key}")] {
                    command.extend(["-c".to_owned(), setting.to_owned()]);
                }
            }
            let command: Vec<&str> = prefix.iter().chain(&command).map(String::as_str).collect();
            let keeper = Keeper::start(folder, EndBy::Quit, &command).map_err(refused("start postgres"))?;
            let roots = certificate.map(|of| of.roots);
            let postgres = Self { keeper, address, programs: programs.clone(), clock, roots };
            if becomes_ready(&postgres.keeper, || answers(&postgres.programs, address)) {
                return Ok(postgres);
            }
            log = postgres.keeper.log();
        }
        Err(StartError::NotReady { program: "postgres", log })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a state URL.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address)
    }

    /// Its address under TLS as a state URL, and who vouches for it in PEM; `None` unless it was set up so.
    #[must_use]
    pub fn secure(&self) -> Option<(String, &str)> {
        let port = self.address.port();
        Some((
            format!("postgres://postgres@localhost:{port}/postgres?sslmode=verify-full"),
            self.roots.as_deref()?,
        ))
    }

    /// Where its programs are.
    pub(super) fn programs(&self) -> &Path {
        &self.programs
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
    }

    /// Runs one statement with `psql` and returns its bare answer.
    ///
    /// # Errors
    ///
    /// When the server is away or refuses the statement.
    pub fn query(&self, statement: &str) -> io::Result<String> {
        query(&self.programs, self.address, statement)
    }

    /// Kills it and its children: no farewell, nothing saved that was not before. Its folder and its port stay its own.
    ///
    /// # Errors
    ///
    /// When the keeper is gone.
    pub fn kill(&mut self) -> io::Result<()> {
        self.keeper.kill()
    }

    /// Starts it again after [`kill`](Self::kill), with what is in its folder and at the same address.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub fn restart(&mut self) -> Result<(), StartError> {
        let (programs, address) = (self.programs.clone(), self.address);
        start_again("postgres", &mut self.keeper, || answers(&programs, address))
    }

    /// Lets its own wall clock show so many seconds more, or less, than the machine's.
    ///
    /// # Errors
    ///
    /// When it was not set up with a clock of its own.
    pub fn shift_clock(&self, seconds: i64) -> io::Result<()> {
        clock::shift(self.clock.as_ref(), seconds)
    }
}

pub(super) fn url(address: SocketAddr) -> String {
    format!("postgres://postgres@{address}/postgres")
}

fn query(programs: &Path, address: SocketAddr, statement: &str) -> io::Result<String> {
    let answer = Command::new(programs.join("psql"))
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement, &url(address)])
        .stdin(Stdio::null())
        .output()?;
    if answer.status.success() {
        Ok(String::from_utf8_lossy(&answer.stdout).trim_end().to_owned())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&answer.stderr).into_owned()))
    }
}

pub(super) fn answers(programs: &Path, address: SocketAddr) -> bool {
    query(programs, address, "select 1").is_ok_and(|answer| answer == "1")
}

/// The account the server runs as: it refuses to be root.
pub(super) enum SystemUser {
    Ourselves,
    Postgres { uid: u32, gid: u32 },
}

impl SystemUser {
    pub(super) fn find() -> io::Result<Self> {
        if fs::metadata("/proc/self")?.uid() != 0 {
            return Ok(Self::Ourselves);
        }
        let id = |flag| {
            let output = Command::new("id").args([flag, "postgres"]).output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            text.trim()
                .parse()
                .map_err(|_| io::Error::other("there is no user `postgres`, which Debian's package makes"))
        };
        Ok(Self::Postgres { uid: id("-u")?, gid: id("-g")? })
    }

    pub(super) fn own(&self, folder: &Path) -> io::Result<()> {
        match self {
            Self::Ourselves => Ok(()),
            Self::Postgres { uid, gid } => chown(folder, Some(*uid), Some(*gid)),
        }
    }

    /// What stands before a command line so that it runs as this user.
    pub(super) fn prefix(&self) -> Vec<String> {
        match self {
            Self::Ourselves => vec![],
            Self::Postgres { uid, gid } => {
                ["setpriv", &format!("--reuid={uid}"), &format!("--regid={gid}"), "--clear-groups", "--"]
                    .map(str::to_owned)
                    .into()
            }
        }
    }

    fn run(&self, program: &Path, arguments: &[impl AsRef<OsStr>]) -> io::Result<Output> {
        let prefix = self.prefix();
        let mut command = match prefix.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.args(arguments).current_dir("/").stdin(Stdio::null()).output()
    }
}

fn initdb(cluster: &Path) -> Vec<String> {
    let options =
        ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"];
    options.map(str::to_owned).into_iter().chain([cluster.to_string_lossy().into_owned()]).collect()
}

fn serve(
    user: &SystemUser,
    programs: &Path,
    cluster: &Path,
    folder: &Path,
    address: SocketAddr,
) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut command = user.prefix();
    command.extend([text(&programs.join("postgres")), "-D".into(), text(cluster)]);
    command.extend([
        "-h".into(),
        "127.0.0.1".into(),
        "-p".into(),
        address.port().to_string(),
        "-k".into(),
        text(folder),
        // After a crash, one call for all files instead of one for each: on a slow disk those take minutes.
        "-c".into(),
        "recovery_init_sync_method=syncfs".into(),
    ]);
    command
}

/// The folder of the server's programs: where the search path leads, else the newest of Debian's.
fn programs() -> Option<PathBuf> {
    // A link on the search path need not have the other programs beside it.
    if let Some(found) = on_path("postgres").and_then(|link| fs::canonicalize(link).ok()) {
        return found.parent().map(Path::to_owned);
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().parse::<u32>().ok();
    let bins = versions.filter_map(|entry| Some((version(&entry)?, entry.path().join("bin"))));
    bins.filter(|(_, bin)| bin.join("postgres").exists()).max().map(|(_, bin)| bin)
}

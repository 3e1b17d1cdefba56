//! From the command line to a listener and workers, and to their end.
#![expect(clippy::disallowed_methods, reason = "the binary is where the machine is known")]

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::Write,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use interlock_serve::{
    egress::Egress,
    jobs::Jobs,
    tally::Tally,
    target::Allowed,
    web::{Doors, Limits, Token, Web},
    work::{Bounds, Work},
};
use interlock_store::Options;
use interlock_sync::store::Quota;
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    sync::{Notify, watch},
    task::JoinSet,
};

use super::Serve;
use crate::{
    console::Console,
    ending::Ending,
    exit::Exit,
    verbs::given::{environment, home},
};

/// What clients may know of our environment: where programs, certificates and registries are. Nothing that says who we are.
const PASSED: &[&str] = &[
    "PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "NPM_CONFIG_REGISTRY",
];

const HOUR: Duration = Duration::from_secs(60 * 60);

pub(super) fn run(options: &Serve, console: &mut Console) -> Result<Exit> {
    let runtime = Runtime::new().context("failed to start")?;
    let outcome = runtime.block_on(async {
        let mut ending = Ending::new()?;
        let (told, stop) = watch::channel(false);
        let serving = options.serve(console, stop);
        tokio::pin!(serving);
        tokio::select! {
            ended = &mut serving => return ended,
            () = ending.asked() => { let _ = told.send(true); }
        }
        tokio::select! {
            ended = serving => ended,
            () = ending.asked() => bail!("ended by a second signal"),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(2));
    outcome.map(|()| Exit::Clean)
}

impl Serve {
    async fn serve(&self, console: &mut Console, stop: watch::Receiver<bool>) -> Result<()> {
        if self.worker && self.workers == 0 {
            bail!("--worker with --workers 0 would do nothing");
        }
        let store_options = Options::default().namespace("interlock-serve");
        let store = interlock_store::open(&self.state()?, &store_options).await?;
        store.now().await.context("failed to reach the state")?;
        let keep = Duration::from_secs(u64::from(self.keep.max(1)) * 24 * 60 * 60);
        let jobs = Jobs::new(store.clone(), self.lease, self.in_flight).keeping(keep);
        let allowed = Allowed {
            hosts: self.allow_host.clone(),
            folders: self.allow_files.clone(),
            packages: !self.no_packages,
        };
        let (tally, wake) = (Arc::new(Tally::default()), Arc::new(Notify::new()));
        let work = Arc::new(Work {
            jobs: jobs.clone(),
            allowed: allowed.clone(),
            egress: Egress::start(self.allow_private.clone())
                .await
                .context("failed to listen on loopback")?,
            bounds: Bounds {
                time: self.time,
                download: self.download << 20,
                memory: self.memory << 20,
                ..Bounds::default()
            },
            program: std::env::current_exe().context("failed to find this program")?,
            scratch: std::env::temp_dir(),
            environment: passed(environment()),
            tally: Arc::clone(&tally),
            wake: Arc::clone(&wake),
            log: log(),
        });
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            let (work, stop) = (Arc::clone(&work), stop.clone());
            workers.spawn(async move { work.run(stop).await });
        }
        if self.worker {
            log()(&format!(
                "{} at work",
                if self.workers == 1 { "one audit".to_owned() } else { format!("{} audits", self.workers) }
            ));
        } else {
            let listener = TcpListener::bind(self.listen)
                .await
                .with_context(|| format!("failed to listen on {}", self.listen))?;
            let address = listener.local_addr()?;
            let tokens = self.tokens()?;
            if tokens.is_empty() && !address.ip().is_loopback() {
                log()("no --tokens were given: everybody who can reach the address may ask for audits");
            }
            let rate = Quota::bucket(self.rate.get(), HOUR)?;
            let web = Arc::new(Web {
                jobs,
                allowed,
                doors: Doors { is_loopback: address.ip().is_loopback(), hosts: self.hosts.clone(), tokens },
                limits: Limits::new(store.clone(), rate, self.requests, self.upload << 20),
                tally,
                wake,
            });
            writeln!(console, "http://{address}/")?;
            console.flush()?;
            let mut told = stop.clone();
            web.serve(listener, async move {
                let _ = told.wait_for(|stop| *stop).await;
            })
            .await;
        }
        while workers.join_next().await.is_some() {}
        // Claims that were dropped are given back by tasks of their own.
        tokio::time::sleep(Duration::from_millis(100)).await;
        store.close().await?;
        Ok(())
    }

    /// The store that was given, or a file in the user's state folder.
    fn state(&self) -> Result<String> {
        if let Some(state) = &self.state {
            return Ok(state.clone());
        }
        let of_system = environment().remove(OsStr::new("XDG_STATE_HOME")).map(PathBuf::from);
        let of_user = || home().map(|home| home.join(".local/state"));
        let folder = of_system.filter(|path| path.is_absolute()).or_else(of_user);
        let folder = folder
            .context("there is no home folder; say with --state where audits are kept")?
            .join("interlock");
        fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
        Ok(format!("sqlite:{}", folder.join("serve.db").display()))
    }

    fn tokens(&self) -> Result<Vec<Token>> {
        let Some(path) = &self.tokens else { return Ok(Vec::new()) };
        let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let tokens = lines.enumerate().map(|(number, line)| {
            let (name, secret) = line
                .split_once('=')
                .filter(|(name, secret)| !name.is_empty() && secret.len() >= 16)
                .with_context(|| {
                    format!(
                        "{}: token {} is not NAME=SECRET with 16 characters or more",
                        path.display(),
                        number + 1
                    )
                })?;
            Ok(Token::new(name, secret))
        });
        let tokens: Vec<Token> = tokens.collect::<Result<_>>()?;
        if tokens.is_empty() {
            bail!("{} has no token, so nobody could ask for anything", path.display());
        }
        Ok(tokens)
    }
}

fn passed(environment: BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
    environment.into_iter().filter(|(name, _)| PASSED.iter().any(|known| OsStr::new(known) == name)).collect()
}

#[expect(
    clippy::print_stderr,
    reason = "standard output has the address, and this is for whoever keeps the server"
)]
fn log() -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(|text| eprintln!("interlock serve: {text}"))
}

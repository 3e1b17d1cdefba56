//! Serving: what the ledger needs around it, and how it ends.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use interlock_ledger::{
    Log,
    caller::{Caller, Tokens},
    listen,
    payments::Payments,
    seed::seed,
    server::LedgerServer,
    twin::{Parts, naive, safe},
};
use interlock_store::Options;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::Child,
    runtime::Runtime,
};

use super::Ledger;
use crate::{console::Console, ending::Ending, exit::Exit};

pub(super) fn run(ledger: &Ledger, console: &mut Console) -> Result<Exit> {
    let runtime = Runtime::new().context("failed to start")?;
    let outcome = runtime.block_on(async {
        let mut ending = Ending::new()?;
        let (told, stop) = tokio::sync::oneshot::channel::<()>();
        let serving = ledger.serve(console, async {
            let _ = stop.await;
        });
        tokio::pin!(serving);
        tokio::select! {
            ended = &mut serving => return ended,
            () = ending.asked() => drop(told),
        }
        tokio::select! {
            ended = serving => ended,
            () = ending.asked() => bail!("ended by a second signal, with calls still running"),
        }
    });
    // A thread may still wait for input that never comes.
    runtime.shutdown_background();
    outcome.map(|()| Exit::Clean)
}

impl Ledger {
    async fn serve(&self, console: &mut Console, stop: impl Future<Output = ()>) -> Result<()> {
        let tokens = Tokens::parse(&self.tokens)?;
        let store = interlock_store::open(&self.state, &Options::default()).await?;
        store.now().await.context("failed to reach the state")?;
        let root = FilesRoot::new(self.files.as_deref(), &self.state)?;
        let provider = Provider::find(self.payments.as_deref(), self.lose_charges).await?;
        let payments = Payments::new(&provider.url, Duration::from_millis(self.payment_timeout))?;
        let parts = Parts {
            store: store.clone(),
            files: root.path().to_owned(),
            payments,
            rate: self.rate,
            in_flight: self.in_flight,
            think: Duration::from_millis(self.think),
            log: log(),
        };
        let twin = if self.naive { naive::make(&parts) } else { safe::make(&parts) }?;
        if self.seed {
            let owner = tokens.first().cloned().unwrap_or_else(Caller::unnamed);
            seed(store, log(), &owner).await.context("failed to seed")?;
        }
        // Whoever has never thought about it just ends, whatever is still running.
        let grace = if self.naive { 0 } else { self.grace };
        let (server, deadline) = (LedgerServer::guarded(twin, log()), Duration::from_millis(grace));
        let Some(address) = self.listen else {
            return Ok(listen::stdio(server, stop, deadline).await?);
        };
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("failed to listen on {address}"))?;
        listen::check(listener.local_addr()?, &tokens)?;
        if tokens.is_empty() {
            log()("no --token was given: everybody on this machine may call, as `caller`");
        }
        writeln!(console, "http://{}{}", listener.local_addr()?, listen::PATH)?;
        console.flush()?;
        Ok(listen::http(server, listener, tokens, stop, deadline).await?)
    }
}

#[expect(
    clippy::print_stderr,
    reason = "standard output carries MCP, and this is for whoever keeps the server"
)]
fn log() -> Log {
    Arc::new(|text| eprintln!("interlock ledger: {text}"))
}

/// The folder of files, which goes with us if it is a temporary one.
enum FilesRoot {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl FilesRoot {
    fn new(given: Option<&Path>, state: &str) -> Result<Self> {
        let beside = state.strip_prefix("sqlite:").map(|path| path.split('?').next().unwrap_or(path));
        Ok(match (given, beside) {
            (Some(folder), _) => Self::Kept(folder.to_owned()),
            (None, Some(path)) if !path.starts_with(':') => Self::Kept(format!("{path}.files").into()),
            (None, _) => Self::Temporary(tempfile::Builder::new().prefix("interlock-ledger-").tempdir()?),
        })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

/// The payment provider: somebody else's, or a child of ours that ends with us.
struct Provider {
    url: String,
    /// Killed when this is dropped; and if we are killed first, its end of the pipe closes and it ends by itself.
    _child: Option<Child>,
}

impl Provider {
    async fn find(given: Option<&str>, lose: u32) -> Result<Self> {
        if let Some(url) = given {
            return Ok(Self { url: url.to_owned(), _child: None });
        }
        let ourselves = std::env::current_exe().context("failed to find this program")?;
        let mut child = tokio::process::Command::new(ourselves)
            .args(["payment-provider", "--listen", "127.0.0.1:0", "--until-stdin-ends"])
            .args(["--drop-replies", &lose.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C reaches everyone on the terminal; it must outlive the charges under way.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("failed to start the payment provider")?;
        let stdout = child.stdout.take().context("the payment provider has no output")?;
        let url = BufReader::new(stdout).lines().next_line().await?;
        let url = url.context("the payment provider did not say where it listens")?;
        Ok(Self { url, _child: Some(child) })
    }
}

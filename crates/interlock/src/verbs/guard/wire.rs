//! The parts of a guard, put together: store, operations, desk, upstreams, engine, listener.
#![expect(clippy::disallowed_methods, reason = "the binary is where people are spoken to")]

use std::{
    io::{Write, stderr},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use interlock_guard::{
    desk::Desk,
    event::{Event, Watch},
    identity::{ClientCertificates, Tls, Ways},
    listen,
    manage::{Greeting, Kept, Manager, Phase, Phases, Settings},
    ops::{AuditOptions, LogFormat, LogOptions, Ops, OpsOptions, Watched},
    policy::Config,
    session::Engine,
    upstream::{Complaints, Upstream},
};
use interlock_store::Options;
use tokio::{net::TcpListener, task::JoinHandle};

use super::{Guard, LogForm, plan::Plan, signals::Signals};
use crate::console::Console;

/// How much of a call's arguments goes into the audit log, if any shall.
const AUDITED: usize = 64 << 10;

/// A guard whose upstreams run.
pub(super) struct Wired {
    pub(super) manager: Manager<Kept>,
    phases: Phases,
    desk: Arc<Desk>,
    engine: Arc<Engine>,
    ops: Arc<Ops>,
    watch: Arc<dyn Watch>,
    listener: Option<(TcpListener, listen::Options)>,
}

impl Wired {
    /// Opens everything. The first line of output says where it listens, if it does.
    pub(super) async fn start(plan: &Plan, options: &Guard, console: &mut Console) -> Result<Self> {
        let config = &plan.config;
        let store = interlock_store::open(&config.state, &Options::default()).await?;
        store.now().await.context("failed to reach the state")?;
        let ops = Ops::open(operations(config, Arc::clone(&store), options.log)).context("failed to")?;
        let watch = ops.watch();
        let desk = Arc::new(Desk::new(store, Arc::clone(&plan.rules), Arc::clone(&watch)));
        let listener = match config.listen.address {
            Some(address) => Some(listener(config, address).await?),
            None => None,
        };
        let admin = match config.admin {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.with_context(|| format!("failed to listen on {address} for operators"))?)
            }
            None => None,
        };
        let complain = complaints(options.log);
        let upstreams = config.upstreams.iter().map(|upstream| {
            let made = Upstream::new(upstream.clone(), Some(Arc::clone(&complain)));
            made.map(Arc::new).with_context(|| format!("failed to reach the server `{}`", upstream.name))
        });
        let upstreams = upstreams.collect::<Result<Vec<_>>>()?;
        let engine = Engine::new(upstreams.clone(), Arc::clone(&desk), Arc::clone(&watch));
        let greeting = if listener.is_some() { Greeting::Guards } else { Greeting::Client };
        let kept = upstreams.into_iter().map(|upstream| Kept::new(upstream, greeting)).collect();
        let settings = Settings { finish_within: config.defaults.close, ..Settings::default() };
        let manager = Manager::start(desk.gate().clone(), kept, settings, Arc::clone(&watch)).await?;
        let phases = manager.phases();
        if let Some(admin) = admin {
            let stop = phases.clone();
            let serving =
                Arc::clone(&ops).serve_admin(admin, async move { stop.reached(Phase::Ending).await });
            tokio::spawn(serving);
        }
        let (working, stop) = (Arc::clone(&ops), phases.clone());
        tokio::spawn(async move { working.work(async move { stop.reached(Phase::Ending).await }).await });
        if let Some((listener, _)) = &listener {
            let scheme = if config.listen.tls.is_some() { "https" } else { "http" };
            writeln!(console, "{scheme}://{}{}", listener.local_addr()?, config.listen.path)?;
            console.flush()?;
        }
        Ok(Self { manager, phases, desk, engine, ops, watch, listener })
    }

    /// Serves until it is told to close, or its one client goes.
    pub(super) fn listen(&mut self) -> JoinHandle<std::io::Result<()>> {
        let (engine, phases) = (Arc::clone(&self.engine), self.phases.clone());
        let closing = async move { phases.reached(Phase::Closing).await };
        match self.listener.take() {
            Some((listener, options)) => tokio::spawn(listen::http(engine, listener, options, closing)),
            None => tokio::spawn(listen::stdio(engine, tokio::io::stdin(), tokio::io::stdout(), closing)),
        }
    }

    /// Reads the configuration again, and opens again what may have been moved away.
    pub(super) fn reload(&self, plan: &Plan) {
        self.ops.reopen();
        let mut out = stderr();
        match plan.reload() {
            None => {}
            Some(Ok(reloaded)) => {
                self.watch.note(&Event::Reloaded { generation: reloaded.generation });
                for warning in &reloaded.warnings {
                    let _ = writeln!(out, "interlock guard: {warning}");
                }
                if !reloaded.after_restart.is_empty() {
                    let tables = reloaded.after_restart.join(", ");
                    let _ = writeln!(out, "interlock guard: what changed in {tables} holds after a restart");
                }
            }
            Some(Err(broken)) => {
                let _ = writeln!(
                    out,
                    "interlock guard: nothing was reloaded, what held before still holds\n{broken}"
                );
            }
        }
    }

    /// Closes in order. A signal that asks again makes it short.
    pub(super) async fn close(self, signals: &mut Signals) -> Result<()> {
        let Self { manager, phases, desk, ops, .. } = self;
        phases.advance(Phase::Closing);
        // Those that stand in line are refused at once; those that run are waited for by the manager.
        desk.close(Duration::ZERO).await;
        let closing = manager.close();
        tokio::pin!(closing);
        let closing = tokio::select! {
            closing = &mut closing => closing,
            () = signals.end() => {
                phases.advance(Phase::Now);
                closing.await
            }
        };
        let flushed = tokio::task::spawn_blocking(move || ops.close()).await;
        flushed.context("failed to write the logs")?;
        for failure in &closing.failures {
            let _ = writeln!(stderr(), "interlock guard: {failure}");
        }
        match (closing.left, phases.now()) {
            (0, _) => Ok(()),
            (left, Phase::Now) => bail!("ended by a second signal, with {left} calls still running"),
            (left, _) => bail!("{left} calls did not finish in time; what became of them is not known"),
        }
    }
}

/// Where clients are let in, and who.
async fn listener(config: &Config, address: std::net::SocketAddr) -> Result<(TcpListener, listen::Options)> {
    let ways = Arc::new(Ways::open(&config.identity).context("failed to read who may call")?);
    ways.fetch().await.context("failed to fetch the keys of callers")?;
    let fresh = Arc::clone(&ways);
    tokio::spawn(async move {
        let told = |outcome: Result<usize, _>| {
            if let Err(error) = outcome {
                let _ = writeln!(
                    stderr(),
                    "interlock guard: the keys of callers were not fetched again: {error}"
                );
            }
        };
        let _ = fresh.keep_fresh(told).await;
    });
    let tls = match &config.listen.tls {
        Some(files) => {
            let clients = ClientCertificates::of(files, &config.identity);
            let tls = Tls::open(files, clients, config.listen.limits.slow);
            Some(Arc::new(tls.context("failed to set up TLS")?))
        }
        None => None,
    };
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("failed to listen on {address}"))?;
    let at = listener.local_addr()?;
    if !at.ip().is_loopback() && !config.identity.verifies() {
        let _ = writeln!(
            stderr(),
            "interlock guard: everybody who reaches {at} may call, and nobody is told from another"
        );
    }
    Ok((listener, listen::Options::new(&config.listen, ways, tls)))
}

fn operations(config: &Config, store: Arc<dyn interlock_sync::store::Store>, form: LogForm) -> OpsOptions {
    let watched = |upstream: &interlock_guard::policy::UpstreamConfig| Watched {
        name: upstream.name.clone(),
        is_required: upstream.is_required,
    };
    let format = match form {
        LogForm::Text => LogFormat::Text,
        LogForm::Json => LogFormat::Json,
    };
    OpsOptions {
        upstreams: config.upstreams.iter().map(watched).collect(),
        store: Some(store),
        audit: config
            .audit
            .path
            .clone()
            .map(|path| AuditOptions { path, arguments: config.audit.arguments.then_some(AUDITED) }),
        log: Some(LogOptions { format, writer: Box::new(stderr()) }),
        ..OpsOptions::default()
    }
}

/// What servers say on their error output goes to ours, with the name of who said it.
fn complaints(form: LogForm) -> Complaints {
    Arc::new(move |upstream, line| {
        let line = match form {
            LogForm::Text => format!("[{upstream}] {line}\n"),
            LogForm::Json => format!("{}\n", serde_json::json!({ "upstream": upstream, "said": line })),
        };
        let _ = stderr().write_all(line.as_bytes());
    })
}

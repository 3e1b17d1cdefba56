//! The parts of a guard, put together: store, operations, desk, upstreams, engine, listener.
#![expect(clippy::disallowed_methods, reason = "the binary is where people are spoken to")]

use std::{
    io::{Write, stderr},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use interlock_guard::{
    desk::{Desk, Terms},
    event::{Event, Watch},
    lane::Lanes,
    listen,
    manage::{Greeting, Kept, Manager, Phase, Phases, Settings},
    ops::{AuditOptions, LogFormat, LogOptions, MetricOptions, Ops, OpsOptions, TraceOptions, Watched},
    policy::{Broken, Config, Reloaded},
    session::Engine,
    upstream::{Complaints, Upstream},
};
use interlock_store::{Caveat, Options};
use tokio::{net::TcpListener, task::JoinHandle};

use super::{Guard, LogForm, entrance::Entrance, inherit::Inherited, plan::Plan, signals::Signals};
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
    entrance: Option<Entrance>,
    /// Kept to the end: calls go on there whose clients have gone.
    lanes: Lanes,
}

impl Wired {
    /// Opens everything. The first line of output says where it listens, if it does.
    pub(super) async fn start(plan: &Plan, options: &Guard, console: &mut Console) -> Result<Self> {
        let config = &plan.config;
        let place = Options::default().namespace(config.namespace());
        let store = interlock_store::open(&config.state, &place).await?;
        store.now().await.context("failed to reach the state")?;
        let ops = Ops::open(operations(config, Arc::clone(&store), options.log)).context("failed to")?;
        let watch = ops.watch();
        for caveat in interlock_store::caveats(&config.state, &place).await {
            match caveat {
                Caveat::Forgets(words) if !config.may_forget => bail!(
                    "{words}. To start all the same, say `durability = \"none\"` in `[state]`, or --durability none"
                ),
                caveat => watch.note(&Event::Notice { about: "state", words: &caveat.to_string() }),
            }
        }
        let inherited = Inherited::open(config, &store, &watch).await;
        let desk = Desk::new(store, Arc::clone(&plan.rules), Arc::clone(&watch)).on_terms(terms(config));
        let desk = Arc::new(desk.with_journal(inherited.journal.clone()));
        let children = inherited.children(&watch);
        let (mut lanes, mut listener, mut entrance) = (Lanes::default(), None, None);
        if let Some(address) = config.listen.address {
            lanes = Lanes::start().context("failed to start")?;
            let (bound, options, opened) = Entrance::open(config, address, &watch).await?;
            listener = Some((bound, listen::Options { lanes: lanes.clone(), ..options }));
            entrance = Some(opened);
        }
        let admin = match config.admin {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                let listener =
                    listener.with_context(|| format!("failed to listen on {address} for operators"))?;
                warn_if_open(listener.local_addr()?, &watch);
                Some(listener)
            }
            None => None,
        };
        let complain = complaints(options.log);
        let upstreams = config.upstreams.iter().map(|upstream| {
            let made = Upstream::new(upstream.clone(), Some(Arc::clone(&complain)));
            made.map(|made| Arc::new(made.with_children(Arc::clone(&children))))
                .with_context(|| format!("failed to reach the server `{}`", upstream.name))
        });
        let upstreams = upstreams.collect::<Result<Vec<_>>>()?;
        let engine = Engine::new(upstreams.clone(), Arc::clone(&desk), Arc::clone(&watch));
        let greeting = if listener.is_some() { Greeting::Guards } else { Greeting::Client };
        let kept = upstreams.iter().flat_map(|upstream| Kept::all(upstream, greeting)).collect();
        let settings = Settings { finish_within: config.defaults.close, ..Settings::default() };
        let phases = engine.phases();
        inherited.keep(phases.clone());
        let gate = desk.gate().clone();
        let manager = Manager::start(gate, phases.clone(), kept, settings, Arc::clone(&watch)).await?;
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
        Ok(Self { manager, phases, desk, engine, ops, watch, listener, entrance, lanes })
    }

    /// Serves until nothing runs any more, or its one client goes.
    pub(super) fn listen(&mut self) -> JoinHandle<std::io::Result<()>> {
        let (engine, phases) = (Arc::clone(&self.engine), self.phases.clone());
        // Calls that finish may need their clients to answer a question, so clients are heard until nothing runs any more.
        let closing = async move { phases.reached(Phase::Ending).await };
        match self.listener.take() {
            Some((listener, options)) => tokio::spawn(listen::http(engine, listener, options, closing)),
            None => tokio::spawn(listen::stdio(engine, tokio::io::stdin(), tokio::io::stdout(), closing)),
        }
    }

    /// Reads the configuration again, with keys and certificates, and opens again what may have been moved away.
    pub(super) fn reload(&self, plan: &Plan) {
        self.ops.reopen();
        match plan.reload() {
            Some(outcome) => self.reloaded(outcome),
            None => self.renew(&plan.config),
        }
    }

    /// Reads the configuration again if its file says something else than before.
    pub(super) fn reload_if_changed(&self, plan: &Plan) {
        if let Some(outcome) = plan.reload_if_changed() {
            self.reloaded(outcome);
        }
    }

    fn reloaded(&self, outcome: Result<Reloaded, Broken>) {
        let notice = |words: &str| self.watch.note(&Event::Notice { about: "reload", words });
        match outcome {
            Ok(reloaded) => {
                self.watch.note(&Event::Reloaded { generation: reloaded.generation });
                for warning in &reloaded.warnings {
                    notice(&warning.to_string());
                }
                if !reloaded.after_restart.is_empty() {
                    notice(&format!(
                        "what changed in {} holds after a restart",
                        reloaded.after_restart.join(", ")
                    ));
                }
                self.renew(&reloaded.config);
            }
            Err(broken) => {
                notice("nothing was reloaded, what held before still holds");
                for problem in &broken.problems {
                    notice(&problem.to_string());
                }
            }
        }
    }

    fn renew(&self, config: &Config) {
        if let Some(entrance) = &self.entrance {
            entrance.renew(&config.identity);
        }
    }

    /// Closes in order. A signal that asks again makes it short.
    pub(super) async fn close(self, signals: &mut Signals) -> Result<()> {
        let Self { manager, phases, desk, ops, watch, lanes, .. } = self;
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
        for failure in &closing.failures {
            watch.note(&Event::Notice { about: "closing", words: &failure.to_string() });
        }
        drop(lanes);
        let flushed = tokio::task::spawn_blocking(move || ops.close()).await;
        flushed.context("failed to write the logs")?;
        match (closing.left, phases.now()) {
            (0, _) => Ok(()),
            (left, Phase::Now) => bail!("ended by a second signal, with {left} calls still running"),
            (left, _) => bail!("{left} calls did not finish in time and were cancelled"),
        }
    }
}

/// The admin listener has no login, so whoever reaches it reads all it has.
fn warn_if_open(at: SocketAddr, watch: &Arc<dyn Watch>) {
    if !at.ip().is_loopback() {
        let words = format!(
            "everybody who reaches {at} sees the names of callers, tools and keys: the admin listener has no login"
        );
        watch.note(&Event::Notice { about: "admin", words: &words });
    }
}

/// How long what upstreams do not give back is held, and how many may wait.
fn terms(config: &Config) -> Terms {
    let defaults = &config.defaults;
    Terms { longest: defaults.longest, longest_task: defaults.longest_task, waiting: defaults.waiting }
}

fn operations(config: &Config, store: Arc<dyn interlock_sync::store::Store>, form: LogForm) -> OpsOptions {
    // A single client, on stdio, has one process.
    let watched = |upstream: &interlock_guard::policy::UpstreamConfig| {
        let instance =
            |name| Watched { name, group: upstream.name.clone(), is_required: upstream.is_required };
        let mut names = upstream.instances();
        if config.listen.address.is_none() {
            names.truncate(1);
        }
        names.into_iter().map(instance).collect::<Vec<_>>()
    };
    let format = match form {
        LogForm::Text => LogFormat::Text,
        LogForm::Json => LogFormat::Json,
    };
    OpsOptions {
        upstreams: config.upstreams.iter().flat_map(watched).collect(),
        store: Some(store),
        audit: config
            .audit
            .path
            .clone()
            .map(|path| AuditOptions { path, arguments: config.audit.arguments.then_some(AUDITED) }),
        log: Some(LogOptions { format, writer: Box::new(stderr()) }),
        traces: TraceOptions::from_environment(|name| std::env::var(name).ok()),
        metrics: MetricOptions::from_environment(|name| std::env::var(name).ok()),
        ..OpsOptions::default()
    }
}

/// What servers say on their error output goes to ours, with the name of who said it.
fn complaints(form: LogForm) -> Complaints {
    Arc::new(move |upstream, line| match form {
        LogForm::Text => {
            let _ = stderr().write_all(format!("[{upstream}] {line}\n").as_bytes());
        }
        LogForm::Json => {
            write_json(&serde_json::json!({ "event": "said", "upstream": upstream, "words": line }));
        }
    })
}

/// A line of JSON on standard error, as a whole.
pub(super) fn write_json(line: &serde_json::Value) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

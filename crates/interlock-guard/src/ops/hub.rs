//! The operations side as a whole: what is opened, kept going and closed.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant, SystemTime},
};

use super::{
    audit::Audit,
    doubts::DoubtProbe,
    live::{Recent, Ring, State, Surroundings, state},
    log::Log,
    meter::Meter,
    options::{AdminOptions, OpsError, OpsOptions},
    ready::{Probe, Readiness, readiness},
    table::Table,
    tally::{Dropped, Process, Tally, expose},
    trace::Traces,
};
use crate::event::Watch;

/// The operations side of a guard.
pub struct Ops {
    pub(super) tally: Tally,
    pub(super) table: Table,
    pub(super) recent: Recent,
    pub(super) ring: Ring,
    pub(super) audit: Option<Audit>,
    pub(super) log: Option<Log>,
    pub(super) traces: Option<Traces>,
    meter: Option<Meter>,
    probe: Probe,
    pub(super) doubts: DoubtProbe,
    started: SystemTime,
    /// The moment of `started` on the clock that is never set.
    start: Instant,
    pub(super) admin: AdminOptions,
}

impl Ops {
    /// Opens what was asked for.
    ///
    /// # Errors
    ///
    /// When the audit log cannot be opened, a thread not started, or the collector's address is none.
    pub fn open(options: OpsOptions) -> Result<Arc<Self>, OpsError> {
        let (started, start) = (SystemTime::now(), Instant::now());
        let tally = Tally::default();
        tally.upstreams.expect(&options.upstreams, started);
        // The first policy is in force without anybody having replaced one.
        tally.generation.store(1, Ordering::Relaxed);
        let traces = options.traces.as_ref().map(Traces::new).transpose()?;
        Ok(Arc::new(Self {
            tally,
            table: Table::default(),
            recent: Recent::default(),
            ring: Ring::default(),
            audit: options.audit.as_ref().map(Audit::open).transpose()?,
            log: options.log.map(Log::start).transpose()?,
            traces,
            meter: options.metrics.as_ref().map(Meter::new).transpose()?,
            doubts: DoubtProbe::new(options.store.clone()),
            probe: Probe::new(options.store),
            started,
            start,
            admin: options.admin,
        }))
    }

    /// Who is told what happens.
    #[must_use]
    pub fn watch(self: &Arc<Self>) -> Arc<dyn Watch> {
        Arc::clone(self) as Arc<dyn Watch>
    }

    /// Keeps the plot going and sends traces, until told to stop; then sends what is left.
    pub async fn work(&self, stop: impl Future<Output = ()>) {
        let (told, tell) = tokio::sync::watch::channel(());
        let stopped = || {
            let mut tell = tell.clone();
            // The sender goes when the guard stops.
            async move { while tell.changed().await.is_ok() {} }
        };
        let tick = async {
            let second = Duration::from_secs(1);
            let mut every = tokio::time::interval_at(tokio::time::Instant::now() + second, second);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut last = Instant::now();
            let mut stopped = std::pin::pin!(stopped());
            loop {
                tokio::select! {
                    () = &mut stopped => return,
                    _ = every.tick() => {}
                }
                let now = Instant::now();
                self.ring.sample(&self.tally.sum, SystemTime::now(), now - last);
                last = now;
                if let Some(log) = &self.log {
                    log.tell_held_back(now);
                }
            }
        };
        let export = async {
            if let Some(traces) = &self.traces {
                traces.export(stopped()).await;
            }
        };
        let meter = async {
            if let Some(meter) = &self.meter {
                meter.send(self.started, || self.metrics(), stopped()).await;
            }
        };
        let stop = async {
            stop.await;
            drop(told);
        };
        tokio::join!(tick, export, meter, stop);
    }

    /// Opens the audit log again, because somebody moved it away.
    pub fn reopen(&self) {
        if let Some(audit) = &self.audit {
            audit.reopen();
        }
    }

    /// Writes what is left of the logs. Waits for that, though not for ever.
    pub fn close(&self) {
        if let Some(audit) = &self.audit {
            audit.close();
        }
        if let Some(log) = &self.log {
            log.close();
        }
    }

    /// The counters, as Prometheus reads them.
    #[must_use]
    pub fn metrics(&self) -> String {
        expose(&self.tally, self.dropped(), self.started, Process::now())
    }

    pub(super) async fn readiness(&self) -> Readiness {
        readiness(&self.tally, &self.probe).await
    }

    pub(super) async fn state(&self) -> State {
        let around = Surroundings {
            readiness: self.readiness().await,
            dropped: self.dropped(),
            started: self.started,
        };
        state(&self.table, &self.tally, &self.recent, &self.ring, around)
    }

    fn dropped(&self) -> Dropped {
        Dropped {
            audit: self.audit.as_ref().map_or(0, Audit::dropped),
            log: self.log.as_ref().map_or(0, Log::dropped),
            spans: self.traces.as_ref().map_or(0, Traces::dropped),
        }
    }

    /// A moment of the steady clock as the calendar has it.
    pub(super) fn calendar(&self, moment: Instant) -> SystemTime {
        self.started + moment.saturating_duration_since(self.start)
    }
}

impl fmt::Debug for Ops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ops").field("started", &self.started).finish_non_exhaustive()
    }
}

//! One upstream, kept alive: started, watched, started again when it is gone, and ended when told.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, task::JoinHandle};

use super::{Away, Live, Phase, Phases, Settings, Start, StartFailure, manager::GivenUp, restarts::Row};
use crate::event::{Event, UpstreamState, Watch};

/// An upstream that is kept alive. Clones are the same one.
pub struct Keeper<S: Start> {
    start: Arc<S>,
    slot: watch::Receiver<Slot<S::Live>>,
}

enum Slot<L> {
    Up(Arc<L>),
    Away { reason: String, comes_back: bool },
}

impl<S: Start> Clone for Keeper<S> {
    fn clone(&self) -> Self {
        Self { start: Arc::clone(&self.start), slot: self.slot.clone() }
    }
}

impl<S: Start> Keeper<S> {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.start.name()
    }

    /// How it is started.
    #[must_use]
    pub fn how(&self) -> &S {
        &self.start
    }

    /// What runs just now.
    ///
    /// # Errors
    ///
    /// [`Away`] if nothing does, with the reason.
    pub fn current(&self) -> Result<Arc<S::Live>, Away> {
        match &*self.slot.borrow() {
            Slot::Up(live) => Ok(Arc::clone(live)),
            Slot::Away { reason, comes_back } => Err(Away {
                upstream: self.name().to_owned(),
                reason: reason.clone(),
                comes_back: *comes_back,
            }),
        }
    }

    /// What runs, as soon as something does, but no longer than so long.
    ///
    /// # Errors
    ///
    /// [`Away`] if nothing does by then, or never will again.
    ///
    /// # Cancel safety
    ///
    /// Dropping it only stops the waiting.
    pub async fn up_within(&self, patience: Duration) -> Result<Arc<S::Live>, Away> {
        let mut slot = self.slot.clone();
        let settled = slot.wait_for(|slot| !matches!(slot, Slot::Away { comes_back: true, .. }));
        let _ = tokio::time::timeout(patience, settled).await;
        self.current()
    }

    /// Starts it, and keeps it alive from then on in a task of its own. A required one must start at once; of another the first failure is
    /// only the first.
    pub(super) async fn open(
        start: Arc<S>,
        settings: &Settings,
        phases: &Phases,
        watch: &Arc<dyn Watch>,
        given_up: &watch::Sender<Option<GivenUp>>,
    ) -> Result<Opened<S>, StartFailure> {
        let (sender, slot) =
            watch::channel(Slot::Away { reason: "is being started".to_owned(), comes_back: true });
        let mut keeping = Keeping {
            start: Arc::clone(&start),
            slot: sender,
            row: Row::new(&settings.restarts),
            settings: settings.clone(),
            phases: phases.clone(),
            watch: Arc::clone(watch),
            given_up: given_up.clone(),
            has_spoken: false,
        };
        let first = match keeping.start().await {
            Ok(live) => Ok(live),
            Err(failure) if start.is_required() => return Err(failure),
            Err(failure) => Err(failure.reason),
        };
        Ok(Opened {
            keeper: Self { start, slot },
            task: Arc::new(Task::new(tokio::spawn(keeping.run(first)))),
        })
    }
}

/// A keeper and the task behind it.
pub(super) struct Opened<S: Start> {
    pub(super) keeper: Keeper<S>,
    task: Arc<Task>,
}

struct Task(std::sync::Mutex<Option<JoinHandle<()>>>);

impl Task {
    fn new(handle: JoinHandle<()>) -> Self {
        Self(std::sync::Mutex::new(Some(handle)))
    }
}

impl<S: Start> Clone for Opened<S> {
    fn clone(&self) -> Self {
        Self { keeper: self.keeper.clone(), task: Arc::clone(&self.task) }
    }
}

impl<S: Start> Opened<S> {
    /// Waits until the upstream has been ended. That it is to be ended is told by the phase.
    pub(super) async fn ended(self) {
        let task = self.task.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

struct Keeping<S: Start> {
    start: Arc<S>,
    slot: watch::Sender<Slot<S::Live>>,
    row: Row,
    settings: Settings,
    phases: Phases,
    watch: Arc<dyn Watch>,
    given_up: watch::Sender<Option<GivenUp>>,
    /// Whether any of its processes has.
    has_spoken: bool,
}

impl<S: Start> Keeping<S> {
    /// From a first start, good or bad, to the end.
    async fn run(mut self, first: Result<Arc<S::Live>, String>) {
        let mut up = first;
        loop {
            match up {
                Ok(live) => match self.watch_over(&live).await {
                    Some(reason) => up = Err(reason),
                    None => return self.away(UpstreamState::Stopped, "was stopped", false),
                },
                Err(reason) => match self.again(&reason).await {
                    Next::Start(outcome) => up = outcome,
                    Next::Stop => return self.away(UpstreamState::Stopped, "was stopped", false),
                    Next::GiveUp(reason) => {
                        self.away(UpstreamState::Stopped, &reason, false);
                        let name = self.start.name().to_owned();
                        self.given_up.send_if_modified(|first| {
                            let is_first = first.is_none();
                            first.get_or_insert(GivenUp { upstream: name, reason });
                            is_first
                        });
                        return;
                    }
                },
            }
        }
    }

    /// One start, told to whoever watches.
    async fn start(&mut self) -> Result<Arc<S::Live>, StartFailure> {
        self.away(UpstreamState::Starting, "is being started", true);
        let started = match tokio::time::timeout(self.settings.start_within, self.start.start()).await {
            Ok(started) => started,
            Err(_) => Err(StartFailure::new(format!(
                "it did not answer within {} s",
                self.settings.start_within.as_secs()
            ))),
        };
        if let Ok(live) = &started {
            self.row.is_up();
            self.slot.send_replace(Slot::Up(Arc::clone(live)));
            self.note(UpstreamState::Up, "it runs");
        }
        started
    }

    /// Until it is gone, and then why; or until it was ended.
    async fn watch_over(&mut self, live: &Arc<S::Live>) -> Option<String> {
        let gone = tokio::select! {
            reason = live.gone() => Some(reason),
            () = self.phases.reached(Phase::Ending) => None,
        };
        if let Some(reason) = &gone {
            self.away(UpstreamState::Down, &format!("is gone: {reason}"), true);
        }
        self.has_spoken |= live.has_spoken();
        live.end(self.settings.grace, self.phases.clone()).await;
        gone
    }

    /// After a pause, unless it was one failure too many or the guard closes first.
    async fn again(&mut self, reason: &str) -> Next<S::Live> {
        if self.start.is_missed() && !self.has_spoken {
            return Next::GiveUp(format!("did not start: {reason}"));
        }
        let pause = match self.row.failed() {
            Some(pause) => pause,
            None if self.start.is_missed() => {
                let times = self.row.failures();
                return Next::GiveUp(format!("was given up after it ended {times} times in a row: {reason}"));
            }
            None => self.row.cap(),
        };
        self.away(UpstreamState::Down, &format!("is gone and will be started again: {reason}"), true);
        let phases = self.phases.clone();
        let paused = async {
            tokio::time::sleep(pause).await;
            self.start().await.map_err(|failure| failure.reason)
        };
        tokio::select! {
            outcome = paused => Next::Start(outcome),
            // No call starts any more, so nobody needs it.
            () = phases.reached(Phase::Closing) => Next::Stop,
        }
    }

    fn away(&self, state: UpstreamState, reason: &str, comes_back: bool) {
        self.slot.send_replace(Slot::Away { reason: reason.to_owned(), comes_back });
        self.note(state, reason);
    }

    fn note(&self, state: UpstreamState, reason: &str) {
        self.watch.note(&Event::Upstream { name: self.start.name(), state, reason });
    }
}

enum Next<L> {
    Start(Result<Arc<L>, String>),
    Stop,
    GiveUp(String),
}

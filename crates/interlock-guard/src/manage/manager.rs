//! The manager: all upstreams together, from the first start to the last end.

use std::{sync::Arc, time::Duration};

use futures_util::future::try_join_all;
use interlock_sync::gate::{Closing, Gate, Started, start_all};
use tokio::sync::watch;

use super::{Keeper, ManageError, Phase, Phases, Restarts, Start, keep::Opened};
use crate::event::Watch;

/// How long things may take.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A start, until the server answers.
    pub start_within: Duration,
    /// The calls in flight, when the guard closes.
    pub finish_within: Duration,
    /// The calls that were cancelled then, to come back.
    pub cancel_within: Duration,
    /// An upstream, to end when it is asked to.
    pub grace: Duration,
    /// When a server that ended is started again.
    pub restarts: Restarts,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            start_within: Duration::from_secs(60),
            finish_within: Duration::from_secs(30),
            cancel_within: Duration::from_secs(1),
            grace: Duration::from_secs(5),
            restarts: Restarts::default(),
        }
    }
}

/// A required upstream that was given up: the guard has nothing to guard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server `{upstream}` {reason}")]
pub struct GivenUp {
    /// Which.
    pub upstream: String,
    /// Why, as a predicate.
    pub reason: String,
}

/// All upstreams, running, and the way to end them.
pub struct Manager<S: Start> {
    started: Started<Vec<Opened<S>>>,
    phases: Phases,
    settings: Settings,
    given_up: watch::Receiver<Option<GivenUp>>,
}

impl<S: Start> Manager<S> {
    /// Starts all upstreams at once. `gate` is what calls pass on their way in; it is closed first when this closes. `phases` is where
    /// everybody sees how far that has come.
    ///
    /// # Errors
    ///
    /// [`ManageError`] if a required one did not start; those that had started are stopped by then.
    ///
    /// # Cancel safety
    ///
    /// Dropped half way, it stops what had started, in the background.
    pub async fn start(
        gate: Gate,
        phases: Phases,
        upstreams: Vec<S>,
        settings: Settings,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, ManageError> {
        let (given_up, gave_up) = watch::channel(None);
        let (how, told) = (&settings, &phases);
        let started = start_all(gate, settings.patience(), |parts| async move {
            let opening = upstreams.into_iter().map(|upstream| {
                let (parts, watch, given_up, told) = (parts.clone(), &watch, &given_up, told.clone());
                async move {
                    let name = upstream.name().to_owned();
                    let opening = Keeper::open(Arc::new(upstream), how, &told, watch, given_up);
                    let phases = told.clone();
                    // The first to be closed tells all, so that they end side by side; each then waits for its own.
                    let close = |opened: Opened<S>| async move {
                        phases.advance(Phase::Ending);
                        opened.ended().await;
                    };
                    parts.open(name, opening, close).await
                }
            });
            try_join_all(opening).await
        })
        .await?;
        Ok(Self { started, phases, settings, given_up: gave_up })
    }

    /// The upstreams, in the order in which they were given.
    pub fn keepers(&self) -> impl Iterator<Item = &Keeper<S>> {
        self.started.iter().map(|opened| &opened.keeper)
    }

    /// How far the closing has come; also the way to hurry it: `advance(Phase::Now)`.
    #[must_use]
    pub fn phases(&self) -> Phases {
        self.phases.clone()
    }

    /// Ready when a required upstream was given up.
    ///
    /// # Cancel safety
    ///
    /// Dropping it only stops the waiting.
    pub async fn gave_up(&self) -> GivenUp {
        let mut given_up = self.given_up.clone();
        match given_up.wait_for(Option::is_some).await.map(|first| first.clone()) {
            Ok(Some(first)) => first,
            // All keepers have ended, and none gave up.
            _ => std::future::pending().await,
        }
    }

    /// Closes the gate, so that no call starts, lets those in flight finish up to their deadline, has the rest cancelled, and ends all
    /// upstreams. [`Phase::Now`] cuts every wait short.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the gate closed and ends the upstreams in the background.
    pub async fn close(self) -> Closing {
        let Self { started, phases, settings, .. } = self;
        let gate = started.gate().clone();
        phases.advance(Phase::Closing);
        gate.shut();
        tokio::select! {
            () = gate.drained() => {}
            () = tokio::time::sleep(settings.finish_within) => {}
            () = phases.reached(Phase::Now) => {}
        }
        let unfinished = gate.inside();
        if unfinished > 0 {
            phases.advance(Phase::Cancelling);
            tokio::select! {
                () = gate.drained() => {}
                () = tokio::time::sleep(settings.cancel_within) => {}
                () = phases.reached(Phase::Now) => {}
            }
        }
        // What is left fails as its upstream goes.
        phases.advance(Phase::Ending);
        let mut closing = started.close(settings.patience()).await;
        closing.left = closing.left.max(unfinished);
        closing
    }
}

impl Settings {
    /// What the closing of one upstream may take in all: it ends by itself, or is killed after its grace.
    fn patience(&self) -> Duration {
        self.grace.saturating_mul(2).saturating_add(Duration::from_secs(5))
    }
}

//! Everything that passes messages on, in one place.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use tokio::sync::watch;

use super::{
    client::{Session, Style},
    table::Sessions,
};
use crate::{call::Caller, desk::Desk, event::Watch, manage::Phases, upstream::Upstream};

/// The guard's engine: upstreams, sessions and the desk between them.
pub struct Engine {
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) sessions: Sessions,
    pub(super) watch: Arc<dyn Watch>,
    stateless: OnceLock<Arc<Session>>,
    closing: watch::Sender<bool>,
    pub(super) phases: Phases,
}

impl Engine {
    /// An engine over upstreams. More than one of them should have a prefix.
    #[must_use]
    pub fn new(upstreams: Vec<Arc<Upstream>>, desk: Arc<Desk>, watch: Arc<dyn Watch>) -> Arc<Self> {
        for upstream in &upstreams {
            upstream.tools.tell(&watch, &upstream.config.prefix);
        }
        Arc::new(Self {
            upstreams,
            desk,
            sessions: Sessions::default(),
            watch,
            stateless: OnceLock::new(),
            closing: watch::Sender::new(false),
            phases: Phases::default(),
        })
    }

    /// The upstreams.
    #[must_use]
    pub fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.upstreams
    }

    /// Who is told what happens.
    pub(crate) fn watch(&self) -> &dyn Watch {
        &*self.watch
    }

    /// How far the closing has come, as the requests under way see it. Whoever closes goes through these.
    #[must_use]
    pub fn phases(&self) -> Phases {
        self.phases.clone()
    }

    /// Ends all streams that would stay open by themselves, so that listeners can come to an end.
    pub fn close(&self) {
        self.closing.send_replace(true);
        self.sessions.close();
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // The sender is ours, so there is nothing that could fail.
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }

    /// Those clients whose revision has no sessions, taken together.
    pub(crate) fn stateless(self: &Arc<Self>) -> Arc<Session> {
        let fresh = || Session::new(self, Caller::anonymous(), Style::Stateless);
        Arc::clone(self.stateless.get_or_init(fresh))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("upstreams", &self.upstreams).finish_non_exhaustive()
    }
}

//! What is kept alive.

use std::{sync::Arc, time::Duration};

use super::{Phases, StartFailure};

/// A way to start an upstream, as often as needed.
pub trait Start: Send + Sync + 'static {
    /// What runs then.
    type Live: Live;

    /// What it is called in logs and errors.
    fn name(&self) -> &str;

    /// Whether the guard does not start without it.
    fn is_required(&self) -> bool;

    /// Whether, once it has run, the guard ends when it cannot be started again.
    fn is_missed(&self) -> bool {
        self.is_required()
    }

    /// Starts it, and is ready when it answers.
    ///
    /// # Cancel safety
    ///
    /// Dropped half way, it must leave nothing running.
    fn start(&self) -> impl Future<Output = Result<Arc<Self::Live>, StartFailure>> + Send;
}

/// An upstream that runs.
pub trait Live: Send + Sync + 'static {
    /// Ready when it is gone without having been told to, with the reason, for people.
    ///
    /// Everybody who waits for an answer of it has been told by then.
    fn gone(&self) -> impl Future<Output = String> + Send;

    /// Whether it has ever said anything. A required one that has not is not started again: it never started.
    fn has_spoken(&self) -> bool;

    /// Ends it, politely for as long as `grace`, less when the phase is [`Now`](super::Phase::Now); nothing of it is left afterwards. Also
    /// called for one that is gone, of which something may be left.
    fn end(&self, grace: Duration, phases: Phases) -> impl Future<Output = ()> + Send;
}

//! Which era of the protocol a program is spoken to in.
//!
//! The process that everybody shares is greeted with a handshake, because almost every program has one and some end when something else comes
//! first. A program that speaks both eras keeps to the one that a process began with, so clients without a handshake get a second process
//! of it, which all of them share: there each request states what it needs, and passes as it came. Whether a program speaks both is found out
//! when the first such client comes.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::{Upstream, greet::Refusal, link::Link, pending::Lost};

/// What is known of a program's eras.
#[derive(Debug, Default)]
pub(super) struct Eras {
    /// It answered the handshake with an error.
    has_no_handshake: AtomicBool,
    /// It has nothing else: asked what it can do, it did not say.
    has_only_handshake: AtomicBool,
    /// The process for clients without a handshake.
    second: Mutex<Option<Arc<Link>>>,
    /// Held while it is started and asked.
    asking: tokio::sync::Mutex<()>,
}

/// A process on trial: it ends unless it is kept, also when whoever asked does not wait any more.
struct Trial(Option<Arc<Link>>);

impl Trial {
    fn keep(mut self) -> Option<Arc<Link>> {
        self.0.take()
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if let Some(process) = self.0.as_deref().and_then(Link::process) {
            process.end();
        }
    }
}

impl Eras {
    /// Another process may be of another version of the program.
    pub(super) fn is_started_again(&self) {
        self.has_only_handshake.store(false, Ordering::Relaxed);
    }

    fn second(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.second.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upstream {
    /// Begins the conversation that everybody shares in the guard's own name.
    pub(crate) async fn greet(&self) -> Result<(), Refusal> {
        let link = self.shared().map_err(Refusal::Lost)?;
        self.begin(&link).await
    }

    /// Whether it answered a handshake with an error.
    pub(crate) fn has_no_handshake(&self) -> bool {
        self.eras.has_no_handshake.load(Ordering::Relaxed)
    }

    async fn begin(&self, link: &Arc<Link>) -> Result<(), Refusal> {
        if self.has_no_handshake() && matches!(link.discover().await, Ok(Some(_))) {
            return Ok(());
        }
        let Err(refusal) = link.introduce().await else { return Ok(()) };
        if matches!(refusal, Refusal::Error(_)) {
            self.eras.has_no_handshake.store(true, Ordering::Relaxed);
            match link.discover().await {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {}
                // It ended after its answer, as some do.
                Err(lost) => return Err(Refusal::Lost(lost)),
            }
        }
        Err(refusal)
    }

    /// The conversation that all clients without a handshake share.
    pub(crate) async fn without_handshake(&self) -> Result<Arc<Link>, Lost> {
        let main = self.shared()?;
        if let Some(link) = self.settled(&main) {
            return Ok(link);
        }
        let _asking = self.eras.asking.lock().await;
        if let Some(link) = self.settled(&main) {
            return Ok(link);
        }
        if !main.is_greeted() {
            self.begin(&main).await.map_err(Refusal::into_lost)?;
        }
        if main.is_stateless() {
            return Ok(main);
        }
        let Ok(second) = self.own(None) else { return Ok(main) };
        let trial = Trial(Some(Arc::clone(&second)));
        if matches!(second.discover().await, Ok(Some(_))) {
            *self.eras.second() = trial.keep();
            return Ok(second);
        }
        self.eras.has_only_handshake.store(true, Ordering::Relaxed);
        Ok(main)
    }

    /// The process for clients without a handshake, if there is one of their own.
    pub(super) fn second_link(&self) -> Option<Arc<Link>> {
        self.eras.second().clone()
    }

    /// The conversation for clients without a handshake, where nothing has to be found out for it.
    pub(super) fn settled(&self, main: &Arc<Link>) -> Option<Arc<Link>> {
        let is_found_out = main.is_greeted()
            && (main.is_stateless() || self.eras.has_only_handshake.load(Ordering::Relaxed));
        if is_found_out {
            return Some(Arc::clone(main));
        }
        self.eras.second().clone().filter(|link| !link.is_over())
    }
}

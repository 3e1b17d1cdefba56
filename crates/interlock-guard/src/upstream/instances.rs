//! Several processes of one upstream, and which of them a client or a call gets.
//!
//! Everything that the policy holds is held for the upstream, whichever of its processes a call goes to. A session begins with the one that has least
//! to do and keeps to it while that runs, also for what it subscribes to; with `choose = "least-loaded"` each of its calls goes to the one that
//! has least to do at that moment. A task is asked about where it was begun. What is not running is left out, and not waited for.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::{Arc, atomic::Ordering},
};

use super::{Link, Lost, Upstream};
use crate::{call::Caller, policy::Choose};

impl Upstream {
    /// All processes that everybody shares, this one first.
    pub fn instances(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.twins.iter().map(|twin| &**twin))
    }

    /// The processes besides this one.
    #[must_use]
    pub fn twins(&self) -> &[Arc<Self>] {
        &self.twins
    }

    /// The name of this process among the processes of its upstream: `notes#2`.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether there is more than one.
    pub(crate) fn has_several(&self) -> bool {
        !self.twins.is_empty()
    }

    /// Whether its process runs, as far as anybody knows.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.shared().is_ok_and(|link| !link.is_over())
    }

    /// The conversation of a session: the one that it has, while its process runs.
    pub(crate) fn home(&self, current: Option<&Arc<Link>>) -> Result<Arc<Link>, Lost> {
        let is_current =
            |one: &Self| one.shared().is_ok_and(|link| current.is_some_and(|it| Arc::ptr_eq(it, &link)));
        let keeps = self.instances().find(|one| one.is_running() && is_current(one));
        keeps.unwrap_or_else(|| self.idlest()).shared()
    }

    /// The process for a caller who has no session. A caller that was not verified keeps to none.
    pub(crate) fn for_caller(&self, caller: &Caller) -> &Self {
        if !self.has_several()
            || self.config.processes.choose == Choose::LeastLoaded
            || *caller == Caller::anonymous()
        {
            return self.idlest();
        }
        // The highest of hashes, so that with one process gone only its callers move.
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let running = self.instances().filter(|one| one.is_ready());
        running
            .max_by_key(|one| hasher.hash_one((caller.as_str(), one.label())))
            .unwrap_or_else(|| self.idlest())
    }

    /// The conversation for one call that is about to be sent, where any process will do.
    pub(crate) fn for_call(&self, usual: &Arc<Link>, has_handshake: bool) -> Arc<Link> {
        if !self.has_several() || self.config.processes.choose == Choose::Sticky {
            return Arc::clone(usual);
        }
        let ready = |one: &Self| {
            let main = one.shared().ok()?;
            let link = if has_handshake { main } else { one.settled(&main)? };
            (link.is_greeted() && !link.is_over()).then_some(link)
        };
        let ready: Vec<_> = self.instances().filter_map(ready).collect();
        let least = self.in_turn(&ready).min_by_key(|link| link.pending.count());
        Arc::clone(least.unwrap_or(usual))
    }

    /// Of the processes that run, the one with the fewest calls.
    fn idlest(&self) -> &Self {
        if !self.has_several() {
            return self;
        }
        let running: Vec<_> = self.instances().filter(|one| one.is_running()).collect();
        let least = self.in_turn(&running).min_by_key(|one| (!one.is_ready(), one.load()));
        least.copied().unwrap_or(self)
    }

    /// The same from another one on each time, so that those that are alike have their turns.
    fn in_turn<'a, T>(&self, all: &'a [T]) -> impl Iterator<Item = &'a T> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed).checked_rem(all.len()).unwrap_or(0);
        all.iter().skip(first).chain(all.iter().take(first))
    }

    /// Whether its process runs and has been greeted.
    fn is_ready(&self) -> bool {
        self.shared().is_ok_and(|link| link.is_greeted() && !link.is_over())
    }

    /// How many requests its processes have not answered.
    fn load(&self) -> usize {
        let main = self.shared().map_or(0, |link| link.pending.count());
        main + self.second_link().map_or(0, |link| link.pending.count())
    }
}

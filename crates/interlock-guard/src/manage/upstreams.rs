//! The guard's own upstreams, as the manager keeps them.

use std::{future::pending, sync::Arc, time::Duration};

use futures_util::future::join_all;

use super::{Live, Phases, Start, StartFailure, process::Process as Body};
use crate::upstream::{Process, Refusal, Upstream};

/// An upstream that is kept alive.
pub struct Kept {
    upstream: Arc<Upstream>,
    /// All processes of the upstream are known to this one.
    first: Arc<Upstream>,
    greeting: Greeting,
}

/// Who begins the conversation with a process that everybody shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// The guard, in its own name: there are many clients. The process runs when it has answered.
    Guards,
    /// The one client, in its own words. The process counts as running from the start.
    Client,
}

/// An upstream that runs.
pub struct Up {
    upstream: Arc<Upstream>,
    /// The process that everybody shares; without one there is nothing to keep alive.
    process: Option<Process>,
}

impl Kept {
    /// An upstream that was not started yet; of several processes the first.
    #[must_use]
    pub fn new(upstream: Arc<Upstream>, greeting: Greeting) -> Self {
        Self { first: Arc::clone(&upstream), upstream, greeting }
    }

    /// All processes of an upstream that everybody shares. A single client, who begins the conversation itself, has one.
    #[must_use]
    pub fn all(upstream: &Arc<Upstream>, greeting: Greeting) -> Vec<Self> {
        let twins = if greeting == Greeting::Client { &[] } else { upstream.twins() };
        let all = std::iter::once(upstream).chain(twins);
        all.map(|one| Self { first: Arc::clone(upstream), ..Self::new(Arc::clone(one), greeting) }).collect()
    }
}

impl Start for Kept {
    type Live = Up;

    fn name(&self) -> &str {
        self.upstream.label()
    }

    fn is_required(&self) -> bool {
        self.upstream.config.is_required
    }

    fn is_missed(&self) -> bool {
        let is_other = |one: &Upstream| !std::ptr::eq(one, &raw const *self.upstream);
        self.is_required() && !self.first.instances().any(|one| is_other(one) && one.is_running())
    }

    async fn start(&self) -> Result<Arc<Up>, StartFailure> {
        let was_known = self.upstream.has_no_handshake();
        let started = self.start_once().await;
        // Some servers without a handshake answer one with an error and end. Now they are asked in their own way first.
        if started.is_err() && !was_known && self.upstream.has_no_handshake() {
            return self.start_once().await;
        }
        started
    }
}

impl Kept {
    async fn start_once(&self) -> Result<Arc<Up>, StartFailure> {
        let failed = |error: std::io::Error| StartFailure::new(error.to_string());
        self.upstream.start().map_err(failed)?;
        let process = self.upstream.process();
        let up = Unfinished(Some(Up { upstream: Arc::clone(&self.upstream), process: process.clone() }));
        let Some(process) = process else { return Ok(up.finish()) };
        if self.greeting == Greeting::Client {
            return Ok(up.finish());
        }
        // That it ended is not asked for beside: what it answered before is known first, and after its end every question is answered as lost.
        match self.upstream.greet().await {
            // An error is an answer: a server without a handshake has nothing else to say to one.
            Ok(()) | Err(Refusal::Error(_)) => Ok(up.finish()),
            // It has closed its output, so it is about to end, or is made to.
            Err(Refusal::Lost(_)) => Err(StartFailure::new(process.ended().await)),
        }
    }
}

/// A start that was given up half way ends what it had started.
struct Unfinished(Option<Up>);

impl Unfinished {
    fn finish(mut self) -> Arc<Up> {
        Arc::new(self.0.take().unwrap_or_else(|| unreachable!("it is taken once")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(process) = self.0.take().and_then(|up| up.process) {
            tokio::spawn(async move { process.body.kill().await });
        }
    }
}

impl Live for Up {
    async fn gone(&self) -> String {
        match &self.process {
            Some(process) => process.ended().await,
            None => pending().await,
        }
    }

    fn has_spoken(&self) -> bool {
        self.process.as_ref().is_none_or(Process::has_spoken)
    }

    async fn end(&self, grace: Duration, phases: Phases) {
        if let Some(process) = &self.process {
            process.leave();
        }
        let shared = self.process.iter().map(|process| Arc::clone(&process.body));
        let all: Vec<Arc<Body>> = shared.chain(self.upstream.own_processes()).collect();
        join_all(all.iter().map(|process| process.end(grace, &phases))).await;
    }
}

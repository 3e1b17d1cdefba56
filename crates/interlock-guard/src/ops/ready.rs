//! Whether calls can be taken, and if not, what is missing.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use interlock_sync::store::Store;
use serde::Serialize;
use tokio::sync::Mutex;

use super::{tally::Tally, text::clip};

/// How long the store may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long its last answer counts: many who ask must not become many questions to the store.
const FRESH: Duration = Duration::from_secs(1);

/// What readiness says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Readiness {
    /// Whether nothing is missing.
    pub(super) ready: bool,
    /// What is.
    pub(super) missing: Vec<Missing>,
}

/// Something without which no call is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Missing {
    /// `upstream`, `store` or `closing`.
    pub(super) what: &'static str,
    /// Which, if there are several.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) name: Box<str>,
    /// How it is, in words.
    pub(super) because: Box<str>,
}

/// Whether the store answered, or why not.
type Answer = Result<(), Box<str>>;

/// The store, and what it said last.
#[derive(Debug)]
pub(super) struct Probe {
    store: Option<Arc<dyn Store>>,
    last: Mutex<Option<(Instant, Answer)>>,
}

impl Probe {
    pub(super) fn new(store: Option<Arc<dyn Store>>) -> Self {
        Self { store, last: Mutex::new(None) }
    }

    /// Asks the store for its time, which every backend answers in one step.
    async fn ask(&self) -> Answer {
        let Some(store) = &self.store else { return Ok(()) };
        let mut last = self.last.lock().await;
        if let Some((when, answer)) = &*last
            && when.elapsed() < FRESH
        {
            return answer.clone();
        }
        let answer = match tokio::time::timeout(PATIENCE, store.now()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(clip(&error.to_string()).into()),
            Err(_) => Err("the store does not answer".into()),
        };
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

/// Looks at everything.
pub(super) async fn readiness(tally: &Tally, probe: &Probe) -> Readiness {
    let mut missing = Vec::new();
    if tally.is_closing.load(Ordering::Relaxed) {
        missing.push(Missing { what: "closing", name: "".into(), because: "no call starts any more".into() });
    }
    let upstreams = tally.upstreams.read();
    let has_one_up =
        |group: &str| upstreams.values().any(|upstream| *upstream.group == *group && upstream.is_up());
    for (name, upstream) in &upstreams {
        if upstream.is_required && !has_one_up(&upstream.group) {
            let because = format!("{}: {}", upstream.state_name(), upstream.reason).into();
            missing.push(Missing { what: "upstream", name: name.clone(), because });
        }
    }
    if let Err(because) = probe.ask().await {
        missing.push(Missing { what: "store", name: "".into(), because });
    }
    Readiness { ready: missing.is_empty(), missing }
}

//! What is in doubt in the store, as the admin listener shows it. To settle it is for the program, beside the guard: nothing can be changed
//! on a listener that has no login.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_sync::{idempotency::Doubts, store::Store};
use serde::Serialize;
use tokio::sync::Mutex;

use super::text::clip;

/// How many are shown.
const SHOWN: usize = 100;
/// How long the store may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long its last answer is shown: a store may have to look at everything for it.
const FRESH: Duration = Duration::from_secs(5);
/// What the idempotency keys of calls begin with; see `desk/plan.rs`. Those of rules that are only observed begin otherwise.
const CALLS: &str = "once:";

/// The calls of which nobody knows whether they took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct InDoubt {
    /// The first of them, in the order of their keys.
    pub(super) doubts: Vec<Doubtful>,
    /// Whether there are more.
    pub(super) more: bool,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Doubtful {
    /// Its idempotency key: server, tool, caller and what the client said.
    pub(super) key: String,
    /// What it is settled with. A text, because it is greater than numbers are exact in a browser's hands for ever.
    pub(super) fence: String,
    /// For how long nobody has been at it.
    pub(super) for_ms: u64,
}

/// The store, and what it said last.
#[derive(Debug)]
pub(super) struct DoubtProbe {
    store: Option<Arc<dyn Store>>,
    last: Mutex<Option<(Instant, InDoubt)>>,
}

impl DoubtProbe {
    pub(super) fn new(store: Option<Arc<dyn Store>>) -> Self {
        Self { store, last: Mutex::new(None) }
    }

    /// What is in doubt, or why that is not known.
    pub(super) async fn ask(&self) -> Result<InDoubt, String> {
        let Some(store) = &self.store else { return Ok(InDoubt { doubts: Vec::new(), more: false }) };
        let mut last = self.last.lock().await;
        if let Some((when, answer)) = &*last
            && when.elapsed() < FRESH
        {
            return Ok(answer.clone());
        }
        let listed = match tokio::time::timeout(PATIENCE, list(store)).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(error)) => return Err(clip(&error.to_string()).into_owned()),
            Err(_) => return Err("the store does not answer".to_owned()),
        };
        *last = Some((Instant::now(), listed.clone()));
        Ok(listed)
    }
}

async fn list(store: &Arc<dyn Store>) -> Result<InDoubt, interlock_sync::store::StoreError> {
    let mut found = Doubts::new(Arc::clone(store)).list(CALLS, None, SHOWN + 1).await?;
    let more = found.len() > SHOWN;
    found.truncate(SHOWN);
    let now = store.now().await?;
    let shown = |doubt: interlock_sync::store::Doubt| Doubtful {
        key: doubt.key.to_string(),
        fence: doubt.fence.0.to_string(),
        for_ms: u64::try_from(now.since(doubt.since).as_millis()).unwrap_or(u64::MAX),
    };
    Ok(InDoubt { doubts: found.into_iter().map(shown).collect(), more })
}

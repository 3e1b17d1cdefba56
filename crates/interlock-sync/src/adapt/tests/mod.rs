//! The order of decisions, with calls whose work the test holds in its hand.

mod chaos;
mod once;
mod shared;
mod turns;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::*;
use crate::{
    memory::MemoryStore,
    store::Quota,
    testing::{TokioClock, settle},
};

const SECOND: Duration = Duration::from_secs(1);

/// An answer that stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said(pub(super) String);

impl Answer for Said {
    /// `more` is a question.
    fn to_stored(&self) -> Option<Vec<u8>> {
        (self.0 != "more").then(|| self.0.clone().into_bytes())
    }

    fn from_stored(stored: &[u8]) -> Option<Self> {
        String::from_utf8(stored.to_vec()).ok().map(Self)
    }
}

/// Work that ends when the test says so, and counts itself.
#[derive(Debug, Clone)]
pub(super) struct Work {
    may_end: Arc<Semaphore>,
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { may_end: Arc::new(Semaphore::new(0)), started: Arc::default(), ended: Arc::default() }
    }

    pub(super) fn let_end(&self, calls: usize) {
        self.may_end.add_permits(calls);
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        (self.started.load(Ordering::SeqCst), self.ended.load(Ordering::SeqCst))
    }

    pub(super) async fn go(self) -> Said {
        let number = self.started.fetch_add(1, Ordering::SeqCst);
        self.may_end.acquire().await.unwrap().forget();
        self.ended.fetch_add(1, Ordering::SeqCst);
        Said(format!("answer {number}"))
    }
}

fn warden(rules: impl IntoIterator<Item = Rule>) -> Warden {
    Warden::new(rules.into_iter().fold(Policy::builder(), PolicyBuilder::rule).build().unwrap())
}

/// The same policy in this process and on a store.
fn both(rules: &[Rule]) -> [Warden; 2] {
    let policy = || rules.iter().cloned().fold(Policy::builder(), PolicyBuilder::rule);
    let store = MemoryStore::new(Arc::new(TokioClock::new()), Duration::from_secs(3600));
    [policy(), policy().on(Arc::new(store))].map(|policy| Warden::new(policy.build().unwrap()))
}

fn arrive(warden: &Warden, caller: &str, tool: &str, arguments: Value, key: Option<&str>) -> Arrived {
    let (caller, key) = (CallerName::new(caller), key.map(Value::from));
    let call =
        Call { tool, caller: &caller, arguments: arguments.as_object(), idempotency_key: key.as_ref() };
    warden.arrive(&call).unwrap()
}

fn run(arrived: Arrived, work: &Work) -> impl Future<Output = CallOutcome<Said>> + Send + 'static {
    let work = work.clone();
    arrived.run(std::future::pending(), move |_| work.go())
}

fn reason<T>(outcome: CallOutcome<T>) -> RefusalReason {
    match outcome {
        CallOutcome::Refused(refusal) => refusal.reason,
        CallOutcome::Answered(_) | CallOutcome::Replayed(_) => panic!("it was answered"),
    }
}

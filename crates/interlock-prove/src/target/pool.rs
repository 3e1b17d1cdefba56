//! Instances that are started before they are needed, so that the start of a process is not what one waits for.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use tokio::task::JoinHandle;

use super::{Instance, Target, Terms};
use crate::{perturb::Perturb, trouble::Trouble};

/// Which hold an instance is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Hold {
    /// None: the server as its users run it.
    Free,
    /// One of those that there are, by its place among them.
    Held(usize),
}

/// How often an instance is started that does not answer.
const ATTEMPTS: u32 = 3;

/// How long a server that has to be fetched first may take.
const FETCHED_WITHIN: Duration = Duration::from_secs(120);

/// So many times as long as another the first one may take.
const FIRST_TAKES: u32 = 2;

/// An instance on its way.
type Starting = JoinHandle<Result<Instance, Trouble>>;

pub(crate) struct Pool {
    target: Arc<Target>,
    holds: Vec<Arc<dyn Perturb>>,
    terms: Terms,
    /// How many are kept ready of a kind that was asked for.
    ahead: usize,
    /// Whether an instance has come up. Until then there is only one at a time: a runner such as npx may have to fetch the server first, several
    /// of them get into each other's way, and one that is killed meanwhile leaves half a package behind.
    warm: AtomicBool,
    waiting: Mutex<BTreeMap<Hold, Queue>>,
}

/// Instances of one kind that nobody has taken yet.
#[derive(Default)]
struct Queue {
    starting: VecDeque<Starting>,
    /// Whether one of the kind was asked for before: of a kind that is wanted once no others are started.
    is_wanted: bool,
}

impl Pool {
    pub(crate) fn new(target: Arc<Target>, holds: Vec<Arc<dyn Perturb>>, terms: Terms, ahead: usize) -> Self {
        // There is only one of a server that somebody else runs.
        let ahead = if target.networked() { 0 } else { ahead };
        Self { target, holds, terms, ahead, warm: AtomicBool::new(false), waiting: Mutex::default() }
    }

    /// An instance that nobody has used. One that is slow to start says nothing about races, so it is tried again.
    pub(crate) async fn take(&self, hold: Hold) -> Result<Instance, Trouble> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.next(hold).await {
                // Nor does what it prints meanwhile: others that printed the same have come up.
                Err(Trouble::Silent(_) | Trouble::Junk(..)) if attempts < ATTEMPTS && self.is_warm() => {}
                outcome => {
                    self.warm.fetch_or(outcome.is_ok(), Ordering::Relaxed);
                    return outcome;
                }
            }
        }
    }

    async fn next(&self, hold: Hold) -> Result<Instance, Trouble> {
        let next = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let queue = waiting.entry(hold).or_default();
            let next = queue.starting.pop_front().unwrap_or_else(|| self.begin(hold));
            while self.is_warm() && queue.is_wanted && queue.starting.len() < self.ahead {
                queue.starting.push_back(self.begin(hold));
            }
            queue.is_wanted = true;
            next
        };
        next.await.map_err(|error| Trouble::Ended(format!(": {error}")))?
    }

    /// Begins to start one of a kind that will be asked for, unless one is on its way.
    pub(crate) fn expect(&self, hold: Hold) {
        if self.target.networked() || !self.is_warm() {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = waiting.entry(hold).or_default();
        if queue.starting.is_empty() {
            queue.starting.push_back(self.begin(hold));
        }
    }

    /// Takes back an instance that was asked for nothing but what it offers: nothing can have changed in it.
    pub(crate) fn give_back(&self, instance: Instance) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = waiting.entry(Hold::Free).or_default();
        queue.starting.push_front(tokio::spawn(async move { Ok(instance) }));
    }

    fn is_warm(&self) -> bool {
        self.warm.load(Ordering::Relaxed)
    }

    fn begin(&self, hold: Hold) -> Starting {
        let (target, mut terms) = (Arc::clone(&self.target), self.terms.clone());
        if !self.is_warm() {
            // What it loads is in no cache yet.
            terms.patience.start *= FIRST_TAKES;
            if target.may_have_to_be_fetched() {
                terms.patience.start = terms.patience.start.max(FETCHED_WITHIN);
            }
        }
        let hold = match hold {
            Hold::Free => None,
            Hold::Held(index) => self.holds.get(index).map(Arc::clone),
        };
        tokio::spawn(async move { Instance::start(&target, hold.as_deref(), &terms).await })
    }

    /// Gives up those that nobody has taken. All are told to end before one of them is waited for: on a busy machine it takes a while until a
    /// killed process is gone, and one after another that is as many whiles as there are instances.
    pub(crate) fn end(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let tasks: Vec<Starting> = waiting.into_values().flat_map(|queue| queue.starting).collect();
        tasks.iter().for_each(JoinHandle::abort);
        // Those that had started were not aborted any more; the others end with their tasks.
        let ready: Vec<Instance> =
            tasks.into_iter().filter_map(|task| task.now_or_never()?.ok()?.ok()).collect();
        ready.iter().for_each(Instance::signal_end);
    }

    /// A hold that is there.
    pub(crate) fn kind(&self, hold: Hold) -> Option<&dyn Perturb> {
        match hold {
            Hold::Free => None,
            Hold::Held(index) => self.holds.get(index).map(AsRef::as_ref),
        }
    }

    /// The place of the one with this name.
    pub(crate) fn hold(&self, name: &str) -> Hold {
        self.holds.iter().position(|kind| kind.name() == name).map_or(Hold::Free, Hold::Held)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}

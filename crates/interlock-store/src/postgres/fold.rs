//! Wishes for one key that arrive while others are under way are gathered, and travel together.
//!
//! A row that everybody changes is locked by one transaction after the other, and each waits for the disk: so many changes a
//! second, however many callers. Gathered, the callers of a process share one transaction. A wish for a key that nobody travels
//! for is sent at once; those that come meanwhile are taken along on the next journey. Callers who travelled together tend to
//! come back together, so after such a journey the next waits a little for as many: else the first to come back would travel
//! alone, and all the others behind it.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    fmt,
    future::Future,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, timeout, timeout_at},
};

use super::fault::{Effect, Failure};

/// How much travels together at most: so many wishes, and those of a size together.
const MOST_WISHES: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// A quarter of the last journey is waited for the next one to fill; it counts as no longer than this.
const LONGEST_JOURNEY: Duration = Duration::from_millis(20);

/// What can be gathered: how wishes for one key are sent as one statement.
pub(super) trait Gather: Send + Sync + 'static {
    type Key: Clone + Eq + Hash + Send + Sync;
    type Wish: Send;
    type Answer: Send;

    /// About how many bytes a wish adds to the statement.
    fn size(wish: &Self::Wish) -> usize;

    /// What no two wishes of one statement may share: two that do travel one after the other.
    fn id(wish: &Self::Wish) -> u128;

    /// Grants or refuses wishes in order, in one step, with one answer each.
    fn send(
        &self,
        key: &Self::Key,
        wishes: Vec<Self::Wish>,
    ) -> impl Future<Output = Result<Vec<Self::Answer>, Failure>> + Send;
}

/// The wishes that wait, by key. A key is in the map as long as somebody travels for it.
pub(super) struct Fold<G: Gather> {
    pub(super) means: G,
    waiting: Mutex<HashMap<G::Key, Queue<G>>>,
    tickets: AtomicU64,
}

/// The wishes of one key.
struct Queue<G: Gather> {
    wishes: VecDeque<Waiting<G>>,
    /// How many the traveller waits for, and how it is told that they are here.
    awaited: usize,
    here: Arc<Notify>,
}

struct Waiting<G: Gather> {
    ticket: u64,
    wish: G::Wish,
    answer: oneshot::Sender<Result<G::Answer, Failure>>,
}

impl<G: Gather> Fold<G> {
    pub(super) fn new(means: G) -> Arc<Self> {
        Arc::new(Self { means, waiting: Mutex::default(), tickets: AtomicU64::new(0) })
    }

    /// Sends a wish, with others of its key where there are any.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its wish travels, nothing was sent. Dropped later, it may take effect; those who travel with it are not
    /// disturbed.
    pub(super) async fn join(
        self: &Arc<Self>,
        key: G::Key,
        wish: G::Wish,
        deadline: Instant,
    ) -> Result<G::Answer, Failure> {
        let (answer, answered) = oneshot::channel();
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting { ticket, wish, answer };
        if self.enqueue(&key, waiting) {
            // Not in this future: its caller may drop it, and the others of its key would be stranded.
            tokio::spawn(Traveller { fold: self.clone(), key: key.clone(), finished: false }.travel());
        }
        match timeout_at(deadline, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_dropped)) => Err(Failure::abandoned(Effect::Changes)),
            Err(_elapsed) if self.withdraw(&key, ticket) => Err(Failure::waiting()),
            Err(_elapsed) => Err(Failure::late(Effect::Changes)),
        }
    }

    /// Lets a wish wait, and says whether nobody travels for its key yet.
    fn enqueue(&self, key: &G::Key, waiting: Waiting<G>) -> bool {
        match self.lock().entry(key.clone()) {
            Entry::Occupied(mut queue) => {
                let queue = queue.get_mut();
                queue.wishes.push_back(waiting);
                if queue.wishes.len() == queue.awaited {
                    queue.here.notify_one();
                }
                false
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Queue { wishes: [waiting].into(), awaited: 0, here: Arc::default() });
                true
            }
        }
    }

    /// Takes a wish back that has not travelled yet.
    fn withdraw(&self, key: &G::Key, ticket: u64) -> bool {
        let mut waiting = self.lock();
        let Some(queue) = waiting.get_mut(key) else { return false };
        let before = queue.wishes.len();
        queue.wishes.retain(|waiting| waiting.ticket != ticket);
        queue.wishes.len() < before
    }

    /// The wishes of the next journey. None ends the traveller's work, and the key leaves the map in the same step.
    fn next(&self, key: &G::Key) -> Vec<Waiting<G>> {
        let mut waiting = self.lock();
        let Some(queue) = waiting.get_mut(key) else { return vec![] };
        let (mut together, mut ids, mut bytes) = (vec![], HashSet::new(), 0);
        while together.len() < MOST_WISHES && bytes < MOST_BYTES {
            let Some(next) = queue.wishes.pop_front() else { break };
            // Nobody waits for the answer any more, and nothing was sent: it need not happen.
            if next.answer.is_closed() {
                continue;
            }
            if !ids.insert(G::id(&next.wish)) {
                queue.wishes.push_front(next);
                break;
            }
            bytes += G::size(&next.wish);
            together.push(next);
        }
        if together.is_empty() {
            waiting.remove(key);
        }
        together
    }

    /// Waits until so many wishes are here, or for so long.
    async fn gather(&self, key: &G::Key, awaited: usize, patience: Duration) {
        let here = match self.lock().get_mut(key) {
            Some(queue) if queue.wishes.len() < awaited => {
                queue.awaited = awaited;
                queue.here.clone()
            }
            _ => return,
        };
        // Told or not, the journey goes on with those who are here.
        let _ = timeout(patience, here.notified()).await;
    }

    /// The map. No change of it can stop half way, so a panic elsewhere did not spoil it.
    fn lock(&self) -> MutexGuard<'_, HashMap<G::Key, Queue<G>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Gather> fmt::Debug for Fold<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fold").field("keys", &self.lock().len()).finish_non_exhaustive()
    }
}

/// The one who travels for a key. However it ends, by a panic or with its runtime, the key leaves the map: whoever waits is
/// told, and the next wish finds a new traveller.
struct Traveller<G: Gather> {
    fold: Arc<Fold<G>>,
    key: G::Key,
    /// Whether the key has left the map already. Then it may be back, for somebody else.
    finished: bool,
}

impl<G: Gather> Traveller<G> {
    async fn travel(mut self) {
        loop {
            let together = self.fold.next(&self.key);
            if together.is_empty() {
                self.finished = true;
                return;
            }
            let (wishes, answers): (Vec<_>, Vec<_>) =
                together.into_iter().map(|waiting| (waiting.wish, waiting.answer)).unzip();
            let (expected, started) = (wishes.len(), Instant::now());
            let sent = match self.fold.means.send(&self.key, wishes).await {
                Ok(given) if given.len() != expected => {
                    Err(Failure::nonsense("PostgreSQL answered fewer or more than it was asked"))
                }
                sent => sent,
            };
            // Whoever has gone does not hear the answer; with the same id it can be asked for again.
            match sent {
                Ok(given) => {
                    answers.into_iter().zip(given).for_each(|(to, answer)| drop(to.send(Ok(answer))))
                }
                Err(failure) => answers.into_iter().for_each(|to| drop(to.send(Err(failure.clone())))),
            }
            if expected > 1 {
                self.fold.gather(&self.key, expected, started.elapsed().min(LONGEST_JOURNEY) / 4).await;
            }
        }
    }
}

impl<G: Gather> Drop for Traveller<G> {
    fn drop(&mut self) {
        if !self.finished {
            // The senders are dropped outside the lock: they wake their receivers.
            let stranded = self.fold.lock().remove(&self.key);
            drop(stranded);
        }
    }
}

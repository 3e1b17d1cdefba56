//! A memory store on tokio's time, whose operations take a while, and which fails when a test wants it to.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use interlock_sync::{
    clock::{Clock, Timestamp},
    memory::MemoryStore,
    store::{
        Admission, Admitted, Applied, Attempt, Begun, Ending, Fence, Key, LeaseAnswer, LeaseRequest,
        LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply, Settlement,
        Store, StoreError, Taken,
    },
};

/// Tokio's time, which a test pauses, as the clock of a store.
#[derive(Debug)]
struct TokioClock(tokio::time::Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000_000).after(self.0.elapsed())
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not sent.
    Away,
    /// It takes effect, and the answer is lost.
    LostAnswer,
    /// No answer ever comes, and it does not take effect.
    Hang,
}

pub(super) struct TestStore {
    inner: MemoryStore,
    is_away: AtomicBool,
    admit: Mutex<Vec<Fault>>,
    settle: Mutex<Vec<Fault>>,
    asked: AtomicUsize,
}

impl TestStore {
    pub(super) fn new() -> Arc<Self> {
        let clock = Arc::new(TokioClock(tokio::time::Instant::now()));
        Arc::new(Self {
            inner: MemoryStore::new(clock, Duration::from_secs(3600)),
            is_away: AtomicBool::new(false),
            admit: Mutex::default(),
            settle: Mutex::default(),
            asked: AtomicUsize::new(0),
        })
    }

    pub(super) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// The next admissions go wrong, the last of these first.
    pub(super) fn plan_admit(&self, faults: &[Fault]) {
        self.admit.lock().unwrap().extend(faults);
    }

    pub(super) fn plan_settle(&self, faults: &[Fault]) {
        self.settle.lock().unwrap().extend(faults);
    }

    /// How many admissions were asked for.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn run<'a, T: Send + 'a>(
        &'a self,
        planned: Option<Fault>,
        effect: impl FnOnce() -> Reply<'a, T> + Send + 'a,
    ) -> Reply<'a, T> {
        Box::pin(async move {
            // An await before and one after the effect, as a real store has.
            tokio::task::yield_now().await;
            if self.is_away.load(Ordering::SeqCst) || planned == Some(Fault::Away) {
                return Err(StoreError::unavailable("planned", "fault"));
            }
            if planned == Some(Fault::Hang) {
                std::future::pending::<()>().await;
            }
            let answer = effect().await;
            tokio::task::yield_now().await;
            if planned == Some(Fault::LostAnswer) {
                return Err(StoreError::in_doubt("planned", "fault"));
            }
            answer
        })
    }
}

impl fmt::Debug for TestStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Store for TestStore {
    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.run(self.admit.lock().unwrap().pop(), move || self.inner.admit(admission))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        self.run(None, move || self.inner.prolong(settlement, ttl))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        self.run(self.settle.lock().unwrap().pop(), move || self.inner.settle(settlement))
    }

    fn now(&self) -> Reply<'_, Timestamp> {
        self.inner.now()
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        self.inner.get(key)
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        self.inner.list(prefix, after, limit)
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        self.inner.mutate(mutation)
    }

    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        self.inner.applied(op)
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        self.inner.acquire_lease(request)
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.inner.renew_lease(key, fence, ttl)
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        self.inner.release_lease(key, fence)
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        self.inner.take(key, quota, cost)
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        self.inner.acquire_permit(request)
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        self.inner.renew_permit(key, holder, ttl)
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        self.inner.release_permit(key, holder)
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        self.inner.begin(attempt)
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.inner.dispatch(key, fence, ttl)
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        self.inner.finish(key, fence, ending, keep)
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, u64> {
        self.inner.append(op, log, entry)
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        self.inner.read_log(log, after, limit)
    }

    fn sweep(&self) -> Reply<'_, u64> {
        self.inner.sweep()
    }
}

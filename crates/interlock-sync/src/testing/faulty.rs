//! A memory store that fails, loses answers, hangs or yields where a test wants it to.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::TokioClock;
use crate::{
    clock::Timestamp,
    memory::MemoryStore,
    store::{
        Admission, Admitted, Appended, Applied, Attempt, Begun, Doubt, Ending, Fence, Key, LeaseAnswer,
        LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply,
        Settlement, Store, StoreError, Taken,
    },
};

/// The operations that faults can be planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// [`Store::mutate`].
    Mutate,
    /// [`Store::take`].
    Take,
    /// [`Store::acquire_permit`].
    AcquirePermit,
    /// [`Store::renew_permit`].
    RenewPermit,
    /// [`Store::release_permit`].
    ReleasePermit,
    /// [`Store::begin`].
    Begin,
    /// [`Store::dispatch`].
    Dispatch,
    /// [`Store::finish`].
    Finish,
    /// [`Store::admit`].
    Admit,
    /// [`Store::prolong`].
    Prolong,
    /// [`Store::settle`].
    Settle,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not sent.
    Unavailable,
    /// It takes effect, and the answer is lost.
    LostAnswer,
    /// It never arrives, and no answer ever comes.
    Hang,
    /// It takes effect, and the answer comes so much later.
    LateAnswer(Duration),
    /// Its answer is lost, and it takes effect only after the next one has: a mutation that is still on its way.
    Overtaken,
}

/// A memory store that does as a test planned. What nothing is planned for goes well.
#[derive(Debug)]
pub struct FaultyStore {
    inner: MemoryStore,
    is_away: AtomicBool,
    faults: Mutex<VecDeque<(Op, Fault)>>,
    seen: Mutex<Vec<Op>>,
    on_their_way: Mutex<Vec<Mutation>>,
}

impl FaultyStore {
    /// A store on tokio's time, with nothing wrong.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let inner = MemoryStore::new(Arc::new(TokioClock::new()), Duration::from_secs(3600));
        Arc::new(Self {
            inner,
            is_away: AtomicBool::new(false),
            faults: Mutex::default(),
            seen: Mutex::default(),
            on_their_way: Mutex::default(),
        })
    }

    /// The next operation of this kind for which nothing is planned yet goes wrong.
    pub fn plan(&self, op: Op, fault: Fault) {
        lock(&self.faults).push_back((op, fault));
    }

    /// While it is away, no operation for which a fault could be planned is sent.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// How many operations of this kind were asked for.
    pub fn count(&self, op: Op) -> usize {
        lock(&self.seen).iter().filter(|seen| **seen == op).count()
    }

    /// Does an operation, with an await before and one after its effect, as a real store has.
    fn run<'a, T: Send + 'a>(
        &'a self,
        op: Op,
        effect: impl FnOnce() -> Reply<'a, T> + Send + 'a,
    ) -> Reply<'a, T> {
        lock(&self.seen).push(op);
        let fault = {
            let mut faults = lock(&self.faults);
            faults.iter().position(|(planned, _)| *planned == op).and_then(|at| faults.remove(at))
        };
        let fault = fault.map(|(_, fault)| fault);
        Box::pin(async move {
            tokio::task::yield_now().await;
            let fault = if self.is_away.load(Ordering::SeqCst) { Some(Fault::Unavailable) } else { fault };
            match fault {
                Some(Fault::Unavailable) => return Err(StoreError::unavailable("planned", "fault")),
                Some(Fault::Hang) => std::future::pending().await,
                _ => {}
            }
            let answer = effect().await;
            tokio::task::yield_now().await;
            match fault {
                Some(Fault::LostAnswer) => Err(StoreError::in_doubt("planned", "fault")),
                Some(Fault::LateAnswer(late)) => {
                    tokio::time::sleep(late).await;
                    answer
                }
                _ => answer,
            }
        })
    }
}

impl crate::store::sealed::Backend for FaultyStore {}

impl Store for FaultyStore {
    fn on_freed(&self, freed: crate::store::Freed) {
        self.inner.on_freed(freed);
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
        let overtaken = lock(&self.faults).front() == Some(&(Op::Mutate, Fault::Overtaken));
        let effect = move || {
            if overtaken {
                lock(&self.on_their_way).push(mutation.clone());
                return Box::pin(async { Err(StoreError::in_doubt("planned", "fault")) })
                    as Reply<'a, Outcome>;
            }
            Box::pin(async move {
                let answer = self.inner.mutate(mutation).await;
                let late = std::mem::take(&mut *lock(&self.on_their_way));
                for mutation in &late {
                    self.inner.mutate(mutation).await?;
                }
                answer
            }) as Reply<'a, Outcome>
        };
        self.run(Op::Mutate, effect)
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
        self.run(Op::Take, move || self.inner.take(key, quota, cost))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        self.run(Op::AcquirePermit, move || self.inner.acquire_permit(request))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        self.run(Op::RenewPermit, move || self.inner.renew_permit(key, holder, ttl))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        self.run(Op::ReleasePermit, move || self.inner.release_permit(key, holder))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        self.run(Op::Begin, move || self.inner.begin(attempt))
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.run(Op::Dispatch, move || self.inner.dispatch(key, fence, ttl))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        self.run(Op::Finish, move || self.inner.finish(key, fence, ending, keep))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        self.inner.in_doubt(prefix, after, limit)
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        self.run(Op::Admit, move || self.inner.admit(admission))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        self.run(Op::Prolong, move || self.inner.prolong(settlement, ttl))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        self.run(Op::Settle, move || self.inner.settle(settlement))
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        self.inner.append(op, log, entry)
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        self.inner.read_log(log, after, limit)
    }

    fn sweep(&self) -> Reply<'_, u64> {
        self.inner.sweep()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

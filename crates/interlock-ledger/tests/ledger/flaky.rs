//! A store that can be taken away and given back.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use interlock_sync::{
    memory::MemoryStore,
    store::{
        Admission, Admitted, Appended, Applied, Attempt, Begun, Doubt, Ending, Fence, Key, LeaseAnswer,
        LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply,
        Settlement, Store, StoreError, Taken, Timestamp,
    },
};

/// A store in memory, behind a wire that can be cut.
#[derive(Debug, Default)]
pub(crate) struct Flaky {
    store: MemoryStore,
    is_away: AtomicBool,
    /// Mutations take effect and their answers are lost.
    loses_answers: AtomicBool,
    /// So many entries more are appended without an answer.
    lost_entries: AtomicU32,
}

impl Flaky {
    pub(crate) fn goes_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    pub(crate) fn loses_answers(&self, does: bool) {
        self.loses_answers.store(does, Ordering::SeqCst);
    }

    pub(crate) fn loses_entries(&self, how_many: u32) {
        self.lost_entries.store(how_many, Ordering::SeqCst);
    }

    fn reach<'a, T: Send + 'a>(&'a self, ask: impl FnOnce(&'a MemoryStore) -> Reply<'a, T>) -> Reply<'a, T> {
        if self.is_away.load(Ordering::SeqCst) {
            let error = StoreError::Unavailable { reason: "the wire is cut".into(), source: None };
            return Box::pin(std::future::ready(Err(error)));
        }
        ask(&self.store)
    }
}

impl interlock_sync::store::sealed::Backend for Flaky {}

impl Store for Flaky {
    fn now(&self) -> Reply<'_, Timestamp> {
        self.reach(|store| store.now())
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        self.reach(|store| store.get(key))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        self.reach(|store| store.list(prefix, after, limit))
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        if self.loses_answers.load(Ordering::SeqCst) {
            return Box::pin(async move {
                self.store.mutate(mutation).await?;
                Err(StoreError::InDoubt { reason: "the wire was cut".into(), source: None })
            });
        }
        self.reach(|store| store.mutate(mutation))
    }

    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        self.reach(|store| store.applied(op))
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        self.reach(|store| store.acquire_lease(request))
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.reach(|store| store.renew_lease(key, fence, ttl))
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        self.reach(|store| store.release_lease(key, fence))
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        self.reach(|store| store.take(key, quota, cost))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        self.reach(|store| store.acquire_permit(request))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        self.reach(|store| store.renew_permit(key, holder, ttl))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        self.reach(|store| store.release_permit(key, holder))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        self.reach(|store| store.begin(attempt))
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.reach(|store| store.dispatch(key, fence, ttl))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        self.reach(|store| store.finish(key, fence, ending, keep))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        self.reach(|store| store.in_doubt(prefix, after, limit))
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        self.reach(|store| store.admit(admission))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        self.reach(|store| store.prolong(settlement, ttl))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        self.reach(|store| store.settle(settlement))
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        let less = |left: u32| left.checked_sub(1);
        if self.lost_entries.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            return Box::pin(async move {
                let _ = self.store.append(op, log, entry).await?;
                Err(StoreError::InDoubt { reason: "the wire was cut".into(), source: None })
            });
        }
        self.reach(|store| store.append(op, log, entry))
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        self.reach(|store| store.read_log(log, after, limit))
    }

    fn sweep(&self) -> Reply<'_, u64> {
        self.reach(|store| store.sweep())
    }
}

//! The store of one process: everything in memory, behind one mutex, gone with the process.

mod admission;
mod lane;
mod line;
mod state;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use self::state::State;
use crate::{
    clock::{Clock, MonotonicClock, Timestamp},
    decide,
    store::{
        Admission, Admitted, Appended, Applied, Attempt, Begun, Doubt, Ending, Fence, Key, LeaseAnswer,
        LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply,
        Settlement, Store, Taken,
    },
};

/// A store for one process.
///
/// Every operation is one hold of one mutex, never across an `await`, so it is atomic and its futures are ready at once.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    remember_ops: Duration,
    state: Mutex<State>,
}

impl MemoryStore {
    /// An empty store that remembers the ids of applied mutations for a while.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, remember_ops: Duration) -> Self {
        Self { clock, remember_ops, state: Mutex::default() }
    }

    /// The state, and the time. No operation leaves the state half changed, so one that panicked did not spoil it.
    fn enter(&self) -> (MutexGuard<'_, State>, Timestamp) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        state.sweep_now_and_then(now);
        (state, now)
    }
}

impl Default for MemoryStore {
    /// A store by a clock that cannot be set: what a dead task holds is not held longer because the machine's clock was set back.
    fn default() -> Self {
        Self::new(Arc::new(MonotonicClock::default()), Duration::from_secs(24 * 60 * 60))
    }
}

fn ready<'a, T: Send + 'a>(answer: T) -> Reply<'a, T> {
    Box::pin(std::future::ready(Ok(answer)))
}

impl crate::store::sealed::Backend for MemoryStore {}

impl Store for MemoryStore {
    fn now(&self) -> Reply<'_, Timestamp> {
        ready(self.clock.now())
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        ready(self.enter().0.records.get(key).cloned())
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        ready(self.enter().0.list(prefix, after, limit))
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        let (mut state, now) = self.enter();
        ready(state.mutate(mutation, now, self.remember_ops))
    }

    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        let (state, now) = self.enter();
        ready(state.applied(op, now))
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        let (mut state, now) = self.enter();
        let (answer, row) = decide::acquire_lease(state.leases.get(&request.key), request, now);
        if let Some(row) = row {
            state.leases.insert(request.key.clone(), row);
        }
        ready(answer)
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        let row = decide::renew_lease(state.leases.get(key), fence, ttl, now);
        ready(state::put_if_some(&mut state.leases, key, row))
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        let row = decide::release_lease(state.leases.get(key), fence, now);
        ready(state::put_if_some(&mut state.leases, key, row))
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        let (mut state, now) = self.enter();
        ready(state.take(key, quota, cost, now))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        let (mut state, now) = self.enter();
        ready(decide::acquire_permit(state.permits.entry(request.key.clone()).or_default(), request, now))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        let rows = state.permits.get_mut(key);
        ready(rows.is_some_and(|rows| decide::renew_permit(rows, *holder, ttl, now)))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        ready(state.release_permit(key, *holder, now))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        let (mut state, now) = self.enter();
        let (begun, row) = decide::begin(state.attempts.get(&attempt.key), attempt, now);
        state::put_if_some(&mut state.attempts, &attempt.key, row);
        ready(begun)
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        let row = decide::dispatch(state.attempts.get(key), fence, ttl, now);
        ready(state::put_if_some(&mut state.attempts, key, row))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        let row = decide::finish(state.attempts.get(key), fence, ending, keep, now);
        ready(state::put_if_some(&mut state.attempts, key, row))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        let (state, now) = self.enter();
        ready(state.in_doubt(prefix, after, limit, now))
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        let (mut state, now) = self.enter();
        ready(state.admit(admission, now))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        ready(state.prolong(settlement, ttl, now))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        let (mut state, now) = self.enter();
        ready(state.settle(settlement, now))
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        let (mut state, now) = self.enter();
        Box::pin(std::future::ready(state.append(*op, log, entry, now, self.remember_ops)))
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        ready(self.enter().0.read_log(log, after, limit))
    }

    fn sweep(&self) -> Reply<'_, u64> {
        let (mut state, now) = self.enter();
        ready(state.sweep(now))
    }
}

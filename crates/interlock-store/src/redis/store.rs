//! The port, method by method; each one round trip.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Appended, Applied, Attempt, Begun, Doubt, Ending, Fence, Freed, Key, LeaseAnswer,
    LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply,
    Settlement, Store, Taken, Timestamp,
};

use redis::ToRedisArgs as _;

use super::{admissions, attempts, keys::Keys, leases, limits, link::Link, logs, records, scripts::Scripts};

/// A store on a Redis or Valkey server.
#[derive(Debug)]
pub(super) struct RedisStore {
    pub(super) link: Link,
    pub(super) keys: Keys,
    pub(super) scripts: Scripts,
}

impl interlock_sync::store::sealed::Backend for RedisStore {}

impl Store for RedisStore {
    fn now(&self) -> Reply<'_, Timestamp> {
        Box::pin(async {
            let (seconds, micros): (u64, u64) = self.link.ask(&redis::cmd("TIME")).await?;
            Ok(Timestamp(seconds.saturating_mul(1_000_000).saturating_add(micros)))
        })
    }

    fn on_freed(&self, freed: Freed) {
        self.link.hear(self.keys.calls().to_redis_args().concat(), freed);
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        Box::pin(records::get(self, key))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        Box::pin(records::list(self, prefix, after, limit))
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        Box::pin(records::mutate(self, mutation))
    }

    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        Box::pin(records::applied(self, op))
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        Box::pin(leases::acquire(self, request))
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        Box::pin(leases::renew(self, key, fence, ttl))
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        Box::pin(leases::release(self, key, fence))
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        Box::pin(limits::take(self, key, quota, cost))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        Box::pin(limits::acquire_permit(self, request))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        Box::pin(limits::renew_permit(self, key, holder, ttl))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        Box::pin(limits::release_permit(self, key, holder))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        Box::pin(attempts::begin(self, attempt))
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        Box::pin(attempts::dispatch(self, key, fence, ttl))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        Box::pin(attempts::finish(self, key, fence, ending, keep))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        Box::pin(attempts::in_doubt(self, prefix, after, limit))
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        Box::pin(admissions::admit(self, admission))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        Box::pin(admissions::prolong(self, settlement, ttl))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        Box::pin(admissions::settle(self, settlement))
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        Box::pin(logs::append(self, *op, log, entry))
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        Box::pin(logs::read(self, log, after, limit))
    }

    /// The server expires every key by itself; what goes by itself is in the hash of the admissions.
    fn sweep(&self) -> Reply<'_, u64> {
        Box::pin(admissions::sweep(self))
    }
}

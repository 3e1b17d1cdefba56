//! The port, operation by operation, and the sweep that runs beside them now and then.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use interlock_sync::{
    decide,
    store::{
        Admission, Admitted, Appended, Applied, Attempt, Begun, Change, Doubt, Ending, Fence, Freed, Key,
        LeaseAnswer, LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota,
        Record, Reply, Settlement, Store, StoreError, Taken, Timestamp,
    },
};
use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::{
    admission, attempt,
    durable::Durable,
    fault::{Effect, Failure},
    fold::Fold,
    hints::Hints,
    lease, limit,
    line::Line,
    log::{self, Entries, Entry},
    record::{self, Addition, Additions},
    wire,
};

/// How often one process removes by itself what has expired, while it changes anything at all.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// How many rows of each kind one statement removes: few enough that nobody waits for it.
const SWEEP_AT_ONCE: i64 = 1000;

/// A store in a PostgreSQL schema.
#[derive(Debug)]
pub(super) struct PostgresStore {
    pub(super) line: Arc<Line>,
    additions: Arc<Fold<Additions>>,
    entries: Arc<Fold<Entries>>,
    durable: Durable,
    hints: Hints,
    /// How long op-ids are remembered, in µs.
    keep: i64,
    opened: Instant,
    /// When the next sweep is due, in ms since the store was opened.
    next_sweep: AtomicU64,
}

impl PostgresStore {
    pub(super) fn new(line: Line, remember_ops: Duration, hints: Hints) -> Self {
        let (line, keep) = (Arc::new(line), wire::micros(remember_ops));
        Self {
            additions: Fold::new(Additions { line: line.clone(), keep }),
            entries: Fold::new(Entries { line: line.clone(), keep }),
            durable: Durable::new(line.clone()),
            hints,
            line,
            keep,
            opened: Instant::now(),
            next_sweep: AtomicU64::new(millis(SWEEP_EVERY)),
        }
    }

    async fn change(&self, mutation: &Mutation) -> Result<Outcome, Failure> {
        let Change::Add { key, delta, floor } = &mutation.change else {
            return record::mutate(&self.line, mutation, self.keep).await;
        };
        let guard = mutation.fence.as_ref().map(|check| (check.lease.clone(), check.fence));
        let addition = Addition {
            op: mutation.op,
            fingerprint: mutation.fingerprint().short(),
            delta: *delta,
            floor: *floor,
        };
        self.additions.join((key.clone(), guard), addition, self.line.deadline()).await
    }

    /// Answers with what a future returns. Whoever uses the store also keeps it tidy: now and then, a sweep is started.
    fn reply<'a, T>(&'a self, answer: impl Future<Output = Result<T, Failure>> + Send + 'a) -> Reply<'a, T> {
        Box::pin(async move {
            self.sweep_now_and_then();
            answer.await.map_err(StoreError::from)
        })
    }

    /// Starts a sweep if it is time for one. It runs beside the operation, and if it fails, the next one does its work.
    fn sweep_now_and_then(&self) {
        let now = millis(self.opened.elapsed());
        let due = self.next_sweep.load(Ordering::Relaxed);
        let next = now.saturating_add(millis(SWEEP_EVERY));
        let mine = now >= due
            && self.next_sweep.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if mine {
            let line = self.line.clone();
            tokio::spawn(async move { sweep(&line).await.map(drop) });
        }
    }
}

/// Removes what has expired, a little at a time, until nothing is left of it.
async fn sweep(line: &Line) -> Result<u64, Failure> {
    let mut total = 0;
    loop {
        let statement = "SELECT interlock.sweep($1) AS removed";
        let row = line.ask_one(Effect::Changes, statement, &[(&SWEEP_AT_ONCE, Type::INT8)]).await?;
        let removed = wire::unsigned(&row, "removed")?;
        total += removed;
        // Fewer than the bound of one kind: none of the kinds reached it.
        if removed < SWEEP_AT_ONCE.unsigned_abs() {
            return Ok(total);
        }
    }
}

async fn now(line: &Line) -> Result<Timestamp, Failure> {
    wire::moment(&line.ask_one(Effect::Reads, "SELECT interlock.clock() AS now", &[]).await?, "now")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl interlock_sync::store::sealed::Backend for PostgresStore {}

impl Store for PostgresStore {
    fn on_freed(&self, freed: Freed) {
        self.hints.listen(&self.line, freed);
    }

    fn now(&self) -> Reply<'_, Timestamp> {
        self.reply(now(&self.line))
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        self.reply(record::get(&self.line, key))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        self.reply(record::list(&self.line, prefix, after, limit))
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        self.reply(self.change(mutation))
    }

    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        self.reply(record::applied(&self.line, *op))
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        self.reply(lease::acquire(&self.line, request))
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.reply(lease::renew(&self.line, key, fence, Some(ttl)))
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        self.reply(lease::renew(&self.line, key, fence, None))
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        self.reply(limit::take(&self.line, key, quota, cost))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        self.reply(limit::acquire_permit(&self.line, request))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        self.reply(limit::renew_permit(&self.line, key, *holder, ttl))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        self.reply(limit::release_permit(&self.line, key, *holder))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        self.reply(attempt::begin(&self.line, attempt))
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        self.reply(attempt::dispatch(&self.line, key, fence, ttl))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        self.reply(attempt::finish(&self.line, key, fence, ending, keep))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        self.reply(attempt::in_doubt(&self.line, prefix, after, limit))
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        self.reply(admission::admit(&self.line, &self.durable, admission))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        self.reply(admission::prolong(&self.line, settlement, ttl))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        self.reply(async {
            let (held, awaited) = admission::settle(&self.line, &self.durable, settlement).await?;
            Hints::tell(&self.line, awaited);
            Ok(held)
        })
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        let fingerprint = decide::append_fingerprint(log, entry).short();
        let entry = Entry { op: *op, fingerprint, bytes: entry.to_vec() };
        let append = self.reply(self.entries.join(log.clone(), entry, self.line.deadline()));
        Box::pin(async move { decide::place_of(log, &append.await?) })
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        self.reply(log::read(&self.line, log, after, limit))
    }

    fn sweep(&self) -> Reply<'_, u64> {
        self.reply(sweep(&self.line))
    }
}

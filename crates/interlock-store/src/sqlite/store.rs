//! The store: what goes to the writer, and what to the readers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use interlock_sync::{
    clock::Clock,
    decide,
    store::{
        Admission, Admitted, Appended, Applied, Attempt, Begun, Doubt, Ending, Fence, Key, LeaseAnswer,
        LeaseRequest, LogEntry, Mutation, OpId, Outcome, PermitAnswer, PermitRequest, Quota, Record, Reply,
        Settlement, Store, Taken, Timestamp,
    },
};

use super::{
    connect::{self, Problem},
    fault::not_in_doubt,
    patience::until_free,
    place::{self, Place},
    readers::Readers,
    time::SharedClock,
    values::storable,
    writer::Writer,
};
use crate::Options;

/// How many entries of each kind one step of a sweep removes at most, so that others get their turn between the steps.
const SWEEP_STEP: usize = 1000;

/// A store in one file.
#[derive(Debug)]
pub(super) struct SqliteStore {
    #[expect(dead_code, reason = "says in a debug message which file this is")]
    file: PathBuf,
    clock: Arc<dyn Clock>,
    remember_ops: Duration,
    pub(super) writer: Writer,
    pub(super) readers: Arc<Readers>,
}

impl SqliteStore {
    /// Opens the file, and makes it if it is not there. Blocks.
    pub(super) fn open(place: &Place, options: &Options) -> Result<Self, Problem> {
        let file = place.file()?;
        let Options { namespace, remember_ops, clock, timeout, file_mode, connections, .. } = options.clone();
        place::make_private(&file, file_mode)?;
        let (connection, space) = connect::writer(&file, &namespace, timeout)?;
        let clock = match clock {
            Some(clock) => clock,
            None => Arc::new(until_free(timeout, || SharedClock::open(&connection))?),
        };
        let readers = Readers::new(&file, connections, space, Arc::clone(&clock), timeout)?;
        let writer = Writer::start(connection, space, Arc::clone(&clock), timeout, Arc::clone(&readers))?;
        Ok(Self { file, clock, remember_ops, writer, readers })
    }
}

impl interlock_sync::store::sealed::Backend for SqliteStore {}

impl Store for SqliteStore {
    fn now(&self) -> Reply<'_, Timestamp> {
        Box::pin(std::future::ready(Ok(storable(self.clock.now()))))
    }

    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Record>> {
        let key = key.clone();
        Box::pin(self.readers.run(move |tables| tables.record(&key)))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<(Key, Record)>> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        Box::pin(self.readers.run(move |tables| tables.list(&prefix, after.as_ref(), limit)))
    }

    fn mutate<'a>(&'a self, mutation: &'a Mutation) -> Reply<'a, Outcome> {
        let (mutation, remember) = (mutation.clone(), self.remember_ops);
        Box::pin(self.writer.run(move |tables| tables.mutate(&mutation, remember)))
    }

    /// A read that goes to the writer: behind a mutation that was handed over and whose answer was lost, so that "no" means never.
    fn applied<'a>(&'a self, op: &'a OpId) -> Reply<'a, Option<Applied>> {
        let op = *op;
        Box::pin(async move {
            // A question changes nothing, so that nothing of it can be in doubt.
            self.writer.run(move |tables| tables.applied(op)).await.map_err(not_in_doubt)
        })
    }

    fn acquire_lease<'a>(&'a self, request: &'a LeaseRequest) -> Reply<'a, LeaseAnswer> {
        let request = request.clone();
        Box::pin(self.writer.run(move |tables| tables.acquire_lease(&request)))
    }

    fn renew_lease<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        let key = key.clone();
        Box::pin(self.writer.run(move |tables| tables.renew_lease(&key, fence, ttl)))
    }

    fn release_lease<'a>(&'a self, key: &'a Key, fence: Fence) -> Reply<'a, bool> {
        let key = key.clone();
        Box::pin(self.writer.run(move |tables| tables.release_lease(&key, fence)))
    }

    fn take<'a>(&'a self, key: &'a Key, quota: &'a Quota, cost: u32) -> Reply<'a, Taken> {
        let (key, quota) = (key.clone(), *quota);
        Box::pin(self.writer.run(move |tables| tables.take(&key, &quota, cost)))
    }

    fn acquire_permit<'a>(&'a self, request: &'a PermitRequest) -> Reply<'a, PermitAnswer> {
        let request = request.clone();
        Box::pin(self.writer.run(move |tables| tables.acquire_permit(&request)))
    }

    fn renew_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId, ttl: Duration) -> Reply<'a, bool> {
        let (key, holder) = (key.clone(), *holder);
        Box::pin(self.writer.run(move |tables| tables.renew_permit(&key, holder, ttl)))
    }

    fn release_permit<'a>(&'a self, key: &'a Key, holder: &'a OpId) -> Reply<'a, bool> {
        let (key, holder) = (key.clone(), *holder);
        Box::pin(self.writer.run(move |tables| tables.release_permit(&key, holder)))
    }

    fn begin<'a>(&'a self, attempt: &'a Attempt) -> Reply<'a, Begun> {
        let attempt = attempt.clone();
        Box::pin(self.writer.run(move |tables| tables.begin(&attempt)))
    }

    fn dispatch<'a>(&'a self, key: &'a Key, fence: Fence, ttl: Duration) -> Reply<'a, bool> {
        let key = key.clone();
        Box::pin(self.writer.run(move |tables| tables.dispatch(&key, fence, ttl)))
    }

    fn finish<'a>(
        &'a self,
        key: &'a Key,
        fence: Fence,
        ending: &'a Ending,
        keep: Duration,
    ) -> Reply<'a, bool> {
        let (key, ending) = (key.clone(), ending.clone());
        Box::pin(self.writer.run(move |tables| tables.finish(&key, fence, &ending, keep)))
    }

    fn in_doubt<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        limit: usize,
    ) -> Reply<'a, Vec<Doubt>> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        Box::pin(self.readers.run(move |tables| tables.in_doubt(&prefix, after.as_ref(), limit)))
    }

    fn admit<'a>(&'a self, admission: &'a Admission) -> Reply<'a, Admitted> {
        let admission = admission.clone();
        Box::pin(self.writer.run(move |tables| tables.admit(&admission)))
    }

    fn prolong<'a>(&'a self, settlement: &'a Settlement, ttl: Duration) -> Reply<'a, bool> {
        let settlement = settlement.clone();
        Box::pin(self.writer.run(move |tables| tables.prolong(&settlement, ttl)))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement) -> Reply<'a, bool> {
        let settlement = settlement.clone();
        Box::pin(self.writer.run(move |tables| tables.settle(&settlement)))
    }

    fn append<'a>(&'a self, op: &'a OpId, log: &'a Key, entry: &'a [u8]) -> Reply<'a, Appended> {
        let (id, name, entry, remember) = (*op, log.clone(), entry.to_vec(), self.remember_ops);
        let append = self.writer.run(move |tables| tables.append(id, &name, &entry, remember));
        Box::pin(async move { decide::place_of(log, &append.await?) })
    }

    fn read_log<'a>(&'a self, log: &'a Key, after: u64, limit: usize) -> Reply<'a, Vec<LogEntry>> {
        let log = log.clone();
        Box::pin(self.readers.run(move |tables| tables.read_log(&log, after, limit)))
    }

    fn close(&self) -> Reply<'_, ()> {
        Box::pin(async {
            self.readers.close();
            self.writer.close().await
        })
    }

    fn sweep(&self) -> Reply<'_, u64> {
        Box::pin(async {
            let mut removed = 0;
            loop {
                let swept = self.writer.run(|tables| tables.sweep(SWEEP_STEP)).await?;
                removed += swept.removed;
                if !swept.more {
                    return Ok(removed);
                }
            }
        })
    }
}

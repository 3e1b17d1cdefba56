//! What the memory store holds, and how it changes under the mutex.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    ops::Bound,
    time::Duration,
};

use foldhash::quality::RandomState;

use super::admission::Desk;
use crate::{
    clock::Timestamp,
    decide::{self, AttemptRow, LeaseRow, PermitRow, RateRow, RecordEdit},
    store::{
        Appended, Applied, Changed, Content, Doubt, Key, LogEntry, Mutation, OpId, Outcome, Quota, Record,
        Refusal, StoreError, Taken, Version,
    },
};

/// How many operations pass between two sweeps that the store makes by itself.
const SWEEP_EVERY: u64 = 4096;

/// Callers choose keys, so the hash is seeded with chance, and nobody outside can prepare keys that all meet.
pub(super) type Map<K, V> = HashMap<K, V, RandomState>;

/// What an operation did, until when that is known, and what tells it from another under its id.
#[derive(Debug)]
struct Op {
    done: Applied,
    forget: Timestamp,
    fingerprint: [u8; 16],
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) records: BTreeMap<Key, Record>,
    pub(super) leases: Map<Key, LeaseRow>,
    pub(super) permits: Map<Key, Vec<PermitRow>>,
    pub(super) attempts: Map<Key, AttemptRow>,
    pub(super) desk: Desk,
    ops: Map<OpId, Op>,
    pub(super) rates: Map<Key, (RateRow, Timestamp)>,
    logs: Map<Key, Vec<LogEntry>>,
    last_version: u64,
    last_sequence: u64,
    until_sweep: u64,
}

impl State {
    pub(super) fn list(&self, prefix: &str, after: Option<&Key>, limit: usize) -> Vec<(Key, Record)> {
        let start = after.map_or(prefix, Key::as_str).max(prefix);
        let from_start = self.records.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        let matching = from_start.take_while(|(key, _)| key.as_str().starts_with(prefix));
        let behind = matching.filter(|(key, _)| after.is_none_or(|after| *key > after));
        behind.take(limit).map(|(key, record)| (key.clone(), record.clone())).collect()
    }

    pub(super) fn mutate(&mut self, mutation: &Mutation, now: Timestamp, remember: Duration) -> Outcome {
        let fingerprint = mutation.fingerprint().short();
        if let Some(outcome) = self.replay(mutation.op, fingerprint, now) {
            return outcome;
        }
        match self.try_mutate(mutation, now) {
            Ok(changed) => {
                let done = Applied { at: now, changed, replayed: false };
                let op = Op { done: done.clone(), forget: now.after(remember), fingerprint };
                self.ops.insert(mutation.op, op);
                Outcome::Applied(done)
            }
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn try_mutate(&mut self, mutation: &Mutation, now: Timestamp) -> Result<Vec<Changed>, Refusal> {
        if let Some(check) = &mutation.fence {
            decide::check_fence(self.leases.get(&check.lease), check.fence, now)?;
        }
        let edits = decide::change(&mutation.change, |key| self.records.get(key).cloned())?;
        Ok(edits.into_iter().map(|edit| self.edit(edit)).collect())
    }

    fn edit(&mut self, RecordEdit { key, before, after }: RecordEdit) -> Changed {
        let from = before.map(|record| record.version);
        let Some(content) = after else {
            self.records.remove(&key);
            return Changed { key, from, to: None, number: None };
        };
        self.last_version += 1;
        let to = Version(self.last_version);
        let number = match content {
            Content::Number(number) => Some(number),
            Content::Bytes(_) => None,
        };
        self.records.insert(key.clone(), Record { version: to, content });
        Changed { key, from, to: Some(to), number }
    }

    pub(super) fn applied(&self, op: &OpId, now: Timestamp) -> Option<Applied> {
        self.known(op, now).map(|op| Applied { replayed: true, ..op.done.clone() })
    }

    /// The answer to an operation whose id is known.
    fn replay(&self, op: OpId, fingerprint: [u8; 16], now: Timestamp) -> Option<Outcome> {
        let known = self.known(&op, now)?;
        Some(decide::replay(op, known.done.clone(), Some(known.fingerprint), fingerprint))
    }

    fn known(&self, op: &OpId, now: Timestamp) -> Option<&Op> {
        self.ops.get(op).filter(|op| op.forget > now)
    }

    pub(super) fn take(&mut self, key: &Key, quota: &Quota, cost: u32, now: Timestamp) -> Taken {
        let row = self.rates.get(key).map(|(row, _)| row.clone());
        let (taken, row) = decide::take(row, quota, cost, now);
        if let Some(row) = row {
            let idle = row.idle_from(quota);
            self.rates.insert(key.clone(), (row, idle));
        }
        taken
    }

    pub(super) fn release_permit(&mut self, key: &Key, holder: OpId, now: Timestamp) -> bool {
        let Some(rows) = self.permits.get_mut(key) else { return false };
        let released = decide::release_permit(rows, holder, now);
        if rows.is_empty() {
            self.permits.remove(key);
        }
        released
    }

    pub(super) fn in_doubt(
        &self,
        prefix: &str,
        after: Option<&Key>,
        limit: usize,
        now: Timestamp,
    ) -> Vec<Doubt> {
        let is_asked_for =
            |key: &Key| key.as_str().starts_with(prefix) && after.is_none_or(|after| key > after);
        let asked = self.attempts.iter().filter(|(key, _)| is_asked_for(key));
        let mut doubts: Vec<Doubt> = asked
            .filter_map(|(key, row)| {
                let since = row.in_doubt_since(now)?;
                Some(Doubt { key: key.clone(), fence: row.fence, since })
            })
            .collect();
        doubts.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        doubts.truncate(limit);
        doubts
    }

    pub(super) fn append(
        &mut self,
        op: OpId,
        log: &Key,
        entry: &[u8],
        now: Timestamp,
        remember: Duration,
    ) -> Result<Appended, StoreError> {
        let fingerprint = decide::append_fingerprint(log, entry).short();
        if let Some(outcome) = self.replay(op, fingerprint, now) {
            return decide::place_of(log, &outcome);
        }
        self.last_sequence += 1;
        let done = decide::appended(log, self.last_sequence, now);
        self.ops.insert(op, Op { done, forget: now.after(remember), fingerprint });
        let entry = LogEntry { sequence: self.last_sequence, at: now, entry: entry.to_vec() };
        self.logs.entry(log.clone()).or_default().push(entry);
        Ok(Appended::At(self.last_sequence))
    }

    pub(super) fn read_log(&self, log: &Key, after: u64, limit: usize) -> Vec<LogEntry> {
        let entries = self.logs.get(log).map(Vec::as_slice).unwrap_or_default();
        let first = entries.partition_point(|entry| entry.sequence <= after);
        entries.iter().skip(first).take(limit).cloned().collect()
    }

    /// Forgets what has expired, and says how much that was.
    pub(super) fn sweep(&mut self, now: Timestamp) -> u64 {
        let before = self.expirable();
        self.ops.retain(|_, op| op.forget > now);
        self.rates.retain(|_, (_, idle)| *idle > now);
        self.leases.retain(|_, row| row.forget() > now);
        self.attempts.retain(|_, row| row.forget > now);
        self.permits.retain(|_, rows| {
            rows.retain(|row| row.until > now);
            !rows.is_empty()
        });
        self.desk.sweep(now);
        (before - self.expirable()) as u64
    }

    fn expirable(&self) -> usize {
        let permits: usize = self.permits.values().map(Vec::len).sum();
        self.ops.len()
            + self.rates.len()
            + self.leases.len()
            + self.attempts.len()
            + permits
            + self.desk.expirable()
    }

    /// Called before every operation: the store must not grow only because nobody sweeps it.
    pub(super) fn sweep_now_and_then(&mut self, now: Timestamp) {
        self.until_sweep = if self.until_sweep == 0 {
            self.sweep(now);
            // As many operations as there are entries pay for a sweep over all of them.
            SWEEP_EVERY.max(self.expirable() as u64)
        } else {
            self.until_sweep - 1
        };
    }
}

/// Stores a row that was decided on, and says whether there was one.
pub(super) fn put_if_some<K: Clone + Eq + Hash, R>(rows: &mut Map<K, R>, key: &K, row: Option<R>) -> bool {
    row.map(|row| rows.insert(key.clone(), row)).is_some()
}

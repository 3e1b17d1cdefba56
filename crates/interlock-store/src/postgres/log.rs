//! Append-only logs. Entries of one log are gathered, like additions to one number: an audit log is a row that everybody changes.

use std::sync::Arc;

use interlock_sync::store::{Key, LogEntry, OpId, Outcome};
use tokio_postgres::types::Type;

use super::{
    fault::{Effect, Failure},
    fold::Gather,
    line::{Line, Param},
    record::outcome,
    wire,
};

/// Entries on their way to one log.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) line: Arc<Line>,
    pub(super) keep: i64,
}

/// An entry besides its log.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) op: OpId,
    pub(super) fingerprint: [u8; 16],
    pub(super) bytes: Vec<u8>,
}

impl Gather for Entries {
    type Key = Key;
    type Wish = Entry;
    type Answer = Outcome;

    fn size(entry: &Entry) -> usize {
        entry.bytes.len()
    }

    fn id(entry: &Entry) -> u128 {
        entry.op.0
    }

    async fn send(&self, log: &Key, entries: Vec<Entry>) -> Result<Vec<Outcome>, Failure> {
        let statement = "SELECT * FROM interlock.append_many($1, $2, $3, $4)";
        let log = log.as_str();
        let ops: Vec<_> = entries.iter().map(|entry| entry.op).collect();
        let (ids, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().map(|entry| (wire::id_of(entry.op, entry.fingerprint), entry.bytes)).unzip();
        let params: [Param<'_>; 4] = [
            (&log, Type::TEXT),
            (&ids, Type::BYTEA_ARRAY),
            (&entries, Type::BYTEA_ARRAY),
            (&self.keep, Type::INT8),
        ];
        let rows = self.line.ask(Effect::Changes, statement, &params).await?;
        rows.iter().zip(ops).map(|(row, op)| outcome(op, row)).collect()
    }
}

pub(super) async fn read(line: &Line, log: &Key, after: u64, limit: usize) -> Result<Vec<LogEntry>, Failure> {
    let statement = "SELECT place, at, entry FROM interlock.entries WHERE log = $1 AND place > $2 ORDER BY place LIMIT $3";
    let (log, after, limit) = (log.as_str(), wire::count(after), wire::count(limit as u64));
    let params: [Param<'_>; 3] = [(&log, Type::TEXT), (&after, Type::INT8), (&limit, Type::INT8)];
    let rows = line.ask(Effect::Reads, statement, &params).await?;
    let entry = |row| {
        Ok(LogEntry {
            sequence: wire::unsigned(row, "place")?,
            at: wire::moment(row, "at")?,
            entry: wire::column(row, "entry")?,
        })
    };
    rows.iter().map(entry).collect()
}

//! Append-only logs. Entries of one log are gathered, like additions to one number: an audit log is a row that everybody changes.

use std::sync::Arc;

use interlock_sync::store::{Key, LogEntry};
use tokio_postgres::types::Type;

use super::{
    fault::{Effect, Failure},
    fold::Gather,
    line::{Line, Param},
    wire,
};

/// Entries on their way to one log.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) line: Arc<Line>,
}

impl Gather for Entries {
    type Key = Key;
    type Wish = Vec<u8>;
    type Answer = u64;

    fn size(entry: &Vec<u8>) -> usize {
        entry.len()
    }

    fn id(_: &Vec<u8>) -> Option<u128> {
        None
    }

    async fn send(&self, log: &Key, entries: Vec<Vec<u8>>) -> Result<Vec<u64>, Failure> {
        let statement = "SELECT interlock.append_many($1, $2) AS before";
        let log = log.as_str();
        let params: [Param<'_>; 2] = [(&log, Type::TEXT), (&entries, Type::BYTEA_ARRAY)];
        let row = self.line.ask_one(Effect::Changes, statement, &params).await?;
        let before = wire::unsigned(&row, "before")?;
        Ok((1..=entries.len() as u64).map(|nth| before + nth).collect())
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

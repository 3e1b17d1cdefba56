//! Append-only logs.

use std::time::Duration;

use interlock_sync::{
    decide,
    store::{Key, LogEntry, OpId, Outcome},
};
use rusqlite::Result;

use super::{
    super::values::{moment, read_moment},
    Tables, limit,
};

impl Tables<'_, '_> {
    pub(in super::super) fn append(
        &self,
        op: OpId,
        log: &Key,
        entry: &[u8],
        remember: Duration,
    ) -> Result<Outcome> {
        let fingerprint = decide::append_fingerprint(log, entry).short();
        if let Some(outcome) = self.replay(op, fingerprint)? {
            return Ok(outcome);
        }
        let sql = "UPDATE space SET sequence = sequence + 1 WHERE id = ?1 RETURNING sequence";
        let sequence: u64 =
            self.statement(sql, |statement| statement.query_row([self.space], |row| row.get(0)))?;
        let sql = "INSERT INTO log (space, name, sequence, at, entry) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(sql, (self.space, log.as_str(), sequence, moment(self.now), entry))?;
        let applied = decide::appended(log, sequence, self.now);
        // It was asked for above.
        self.remember(op, fingerprint, &applied, remember).map(|_| Outcome::Applied(applied))
    }

    pub(in super::super) fn read_log(&self, log: &Key, after: u64, most: usize) -> Result<Vec<LogEntry>> {
        let sql = "SELECT sequence, at, entry FROM log
            WHERE space = ?1 AND name = ?2 AND sequence > ?3 ORDER BY sequence LIMIT ?4";
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.all(sql, (self.space, log.as_str(), after, limit(most)), |row| {
            Ok(LogEntry { sequence: row.get(0)?, at: read_moment(row, 1)?, entry: row.get(2)? })
        })
    }
}

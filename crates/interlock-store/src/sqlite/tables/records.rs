//! Versioned records, and the mutations that change them.

use std::time::Duration;

use interlock_sync::{
    decide::{self, Edit},
    store::{Applied, Changed, Content, Key, Mutation, Outcome, Record, Refusal, Version},
};
use rusqlite::Result;

use super::{
    super::values::{Stored, read_key, read_record},
    Tables, limit,
};

impl Tables<'_> {
    pub(in super::super) fn record(&self, key: &Key) -> Result<Option<Record>> {
        let sql = "SELECT version, content FROM record WHERE space = ?1 AND key = ?2";
        self.first(sql, (self.space, key.as_str()), |row| read_record(row, 0))
    }

    pub(in super::super) fn list(
        &self,
        prefix: &str,
        after: Option<&Key>,
        most: usize,
    ) -> Result<Vec<(Key, Record)>> {
        // Every key is greater than the empty text, so that one condition serves with and without a key to start behind.
        let sql = "SELECT key, version, content FROM record
            WHERE space = ?1 AND key >= ?2 AND key > ?3 ORDER BY key LIMIT ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query((self.space, prefix, after.map_or("", Key::as_str), limit(most)))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let key = read_key(row, 0)?;
            // Keys with one prefix are neighbours.
            if !key.as_str().starts_with(prefix) {
                break;
            }
            found.push((key, read_record(row, 1)?));
        }
        Ok(found)
    }

    pub(in super::super) fn mutate(&self, mutation: &Mutation, remember: Duration) -> Result<Outcome> {
        if let Some(applied) = self.applied(mutation.op)? {
            return Ok(Outcome::Applied(applied));
        }
        let edits = match self.decided(mutation)? {
            Ok(edits) => edits,
            Err(refusal) => return Ok(Outcome::Refused(refusal)),
        };
        let changed = self.edit(edits)?;
        let applied = Applied { at: self.now, changed, replayed: false };
        self.remember(mutation.op, &applied, remember)?;
        Ok(Outcome::Applied(applied))
    }

    fn decided(&self, mutation: &Mutation) -> Result<Result<Vec<Edit>, Refusal>> {
        if let Some(check) = &mutation.fence {
            let lease = self.lease(&check.lease)?;
            if let Err(refusal) = decide::check_fence(lease.as_ref(), check.fence, self.now) {
                return Ok(Err(refusal));
            }
        }
        let keys = mutation.change.keys();
        let records: Vec<_> = keys.map(|key| Ok((key, self.record(key)?))).collect::<Result<_>>()?;
        let get = |wanted: &Key| {
            let (_, record) = records.iter().find(|(key, _)| *key == wanted)?;
            record.clone()
        };
        Ok(decide::change(&mutation.change, get))
    }

    fn edit(&self, edits: Vec<Edit>) -> Result<Vec<Changed>> {
        let written = edits.iter().filter(|edit| edit.after.is_some()).count();
        let mut version = match written {
            0 => 0,
            written => self.next_versions(written)? - written as u64,
        };
        let edit = |Edit { key, before, after }| {
            let from = before.map(|record| record.version);
            let Some(content) = after else {
                self.run("DELETE FROM record WHERE space = ?1 AND key = ?2", (self.space, key.as_str()))?;
                return Ok(Changed { key, from, to: None, number: None });
            };
            version += 1;
            let sql = match from {
                Some(_) => "UPDATE record SET version = ?3, content = ?4 WHERE space = ?1 AND key = ?2",
                None => "INSERT INTO record (space, key, version, content) VALUES (?1, ?2, ?3, ?4)",
            };
            self.run(sql, (self.space, key.as_str(), version, Stored(&content)))?;
            let number = match content {
                Content::Number(number) => Some(number),
                Content::Bytes(_) => None,
            };
            Ok(Changed { key, from, to: Some(Version(version)), number })
        };
        edits.into_iter().map(edit).collect()
    }
}

//! Versioned records, and the mutations that change them.

use std::time::Duration;

use interlock_sync::{
    decide::{self, RecordEdit},
    store::{Applied, Changed, Content, Key, Mutation, Outcome, Record, Refusal, Version},
};
use rusqlite::Result;

use super::{
    super::values::{Stored, read_key, read_record},
    Tables, limit,
};

impl Tables<'_, '_> {
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
        let edits = match self.decided(mutation)? {
            Ok(edits) => edits,
            // What would be refused by now may have been applied before.
            Err(refusal) => {
                let known = self.replay(mutation.op, mutation.fingerprint().short())?;
                return Ok(known.unwrap_or(Outcome::Refused(refusal)));
            }
        };
        let applied = Applied { at: self.now, changed: self.changed(&edits)?, replayed: false };
        // The id goes first, so that no question is needed to learn that it is new.
        let fingerprint = mutation.fingerprint().short();
        if let Some(known) = self.remember(mutation.op, fingerprint, &applied, remember)? {
            return Ok(known);
        }
        for (edit, changed) in edits.iter().zip(&applied.changed) {
            self.write(edit, changed)?;
        }
        Ok(Outcome::Applied(applied))
    }

    fn decided(&self, mutation: &Mutation) -> Result<Result<Vec<RecordEdit>, Refusal>> {
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

    /// What becomes of the records, with a new version for each that stays.
    fn changed(&self, edits: &[RecordEdit]) -> Result<Vec<Changed>> {
        let written = edits.iter().filter(|edit| edit.after.is_some()).count();
        let mut version = match written {
            0 => 0,
            written => self.next_versions(written)? - written as u64,
        };
        let changed = |edit: &RecordEdit| {
            let to = edit.after.as_ref().map(|_| {
                version += 1;
                Version(version)
            });
            let number = match edit.after {
                Some(Content::Number(number)) => Some(number),
                Some(Content::Bytes(_)) | None => None,
            };
            let from = edit.before.as_ref().map(|record| record.version);
            Changed { key: edit.key.clone(), from, to, number }
        };
        Ok(edits.iter().map(changed).collect())
    }

    fn write(&self, edit: &RecordEdit, changed: &Changed) -> Result<()> {
        let key = edit.key.as_str();
        let (Some(content), Some(Version(to))) = (&edit.after, changed.to) else {
            return self.run("DELETE FROM record WHERE space = ?1 AND key = ?2", (self.space, key)).map(drop);
        };
        let sql = match edit.before {
            Some(_) => "UPDATE record SET version = ?3, content = ?4 WHERE space = ?1 AND key = ?2",
            None => "INSERT INTO record (space, key, version, content) VALUES (?1, ?2, ?3, ?4)",
        };
        self.run(sql, (self.space, key, to, Stored(content))).map(drop)
    }
}

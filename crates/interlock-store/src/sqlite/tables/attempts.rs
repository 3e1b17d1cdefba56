//! Attempts to do something once.

use std::time::Duration;

use interlock_sync::{
    decide::{self, AttemptRow, Phase},
    store::{Attempt, Begun, Doubt, Ending, Fence, Key},
};
use rusqlite::{Result, Row, params, types::Type};

use super::{
    super::values::{id, moment, read_fingerprint, read_id, read_key, read_moment, senseless},
    Tables, limit,
};

impl Tables<'_, '_> {
    pub(in super::super) fn begin(&self, attempt: &Attempt) -> Result<Begun> {
        let (begun, row) = decide::begin(self.attempt(&attempt.key)?.as_ref(), attempt, self.now);
        self.put_attempt(&attempt.key, row)?;
        Ok(begun)
    }

    pub(in super::super) fn dispatch(&self, key: &Key, fence: Fence, ttl: Duration) -> Result<bool> {
        let row = decide::dispatch(self.attempt(key)?.as_ref(), fence, ttl, self.now);
        self.put_attempt(key, row)
    }

    pub(in super::super) fn finish(
        &self,
        key: &Key,
        fence: Fence,
        ending: &Ending,
        keep: Duration,
    ) -> Result<bool> {
        let row = decide::finish(self.attempt(key)?.as_ref(), fence, ending, keep, self.now);
        self.put_attempt(key, row)
    }

    pub(in super::super) fn in_doubt(
        &self,
        prefix: &str,
        after: Option<&Key>,
        most: usize,
    ) -> Result<Vec<Doubt>> {
        let sql = "SELECT key, fence, until FROM attempt
            WHERE space = ?1 AND key >= ?2 AND key > ?3 AND phase = 1 AND until <= ?4 AND forget > ?4
            ORDER BY key LIMIT ?5";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (after, now) = (after.map_or("", Key::as_str), moment(self.now));
        let mut rows = statement.query((self.space, prefix, after, now, limit(most)))?;
        let mut doubts = Vec::new();
        while let Some(row) = rows.next()? {
            let key = read_key(row, 0)?;
            // Keys with one prefix are neighbours.
            if !key.as_str().starts_with(prefix) {
                break;
            }
            doubts.push(Doubt { key, fence: Fence(row.get(1)?), since: read_moment(row, 2)? });
        }
        Ok(doubts)
    }

    pub(super) fn attempt(&self, key: &Key) -> Result<Option<AttemptRow>> {
        let sql = "SELECT fingerprint, owner, fence, phase, until, answer, forget
            FROM attempt WHERE space = ?1 AND key = ?2";
        self.first(sql, (self.space, key.as_str()), |row| {
            Ok(AttemptRow {
                fingerprint: read_fingerprint(row, 0)?,
                owner: read_id(row, 1)?,
                fence: Fence(row.get(2)?),
                phase: read_phase(row)?,
                forget: read_moment(row, 6)?,
            })
        })
    }

    /// Stores a row that was decided on, and says whether there was one.
    pub(super) fn put_attempt(&self, key: &Key, row: Option<AttemptRow>) -> Result<bool> {
        let Some(AttemptRow { fingerprint, owner, fence: Fence(fence), phase, forget }) = row else {
            return Ok(false);
        };
        let (phase, until, answer) = match phase {
            Phase::Reserved(until) => (0, Some(moment(until)), None),
            Phase::Dispatched(until) => (1, Some(moment(until)), None),
            Phase::Ended(Ending::Completed(answer)) => (2, None, Some(answer)),
            Phase::Ended(Ending::Failed(answer)) => (3, None, Some(answer)),
        };
        let sql = "INSERT INTO attempt (space, key, fingerprint, owner, fence, phase, until, answer, forget)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, owner = excluded.owner,
                fence = excluded.fence, phase = excluded.phase, until = excluded.until,
                answer = excluded.answer, forget = excluded.forget";
        let key = key.as_str();
        let forget = moment(forget);
        self.run(
            sql,
            params![self.space, key, fingerprint.0, id(owner), fence, phase, until, answer, forget],
        )?;
        Ok(true)
    }
}

fn read_phase(row: &Row<'_>) -> Result<Phase> {
    Ok(match row.get(3)? {
        0 => Phase::Reserved(read_moment(row, 4)?),
        1 => Phase::Dispatched(read_moment(row, 4)?),
        2 => Phase::Ended(Ending::Completed(row.get(5)?)),
        3 => Phase::Ended(Ending::Failed(row.get(5)?)),
        _ => return Err(senseless(3, Type::Integer, "a phase that is none")),
    })
}

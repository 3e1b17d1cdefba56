//! What applied mutations did, for as long as their ids are remembered.

use std::time::Duration;

use interlock_sync::{
    decide,
    store::{Applied, Changed, OpId, Outcome, Version},
};
use rusqlite::{Result, Row, params, types::Type};

use super::{
    super::values::{id, moment, read_key, read_moment, senseless},
    Tables,
};

impl Tables<'_, '_> {
    pub(in super::super) fn applied(&self, op: OpId) -> Result<Option<Applied>> {
        Ok(self.known(op)?.map(|(done, _)| done))
    }

    /// The answer to an operation whose id is known.
    pub(super) fn replay(&self, op: OpId, fingerprint: [u8; 16]) -> Result<Option<Outcome>> {
        let known = self.known(op)?;
        Ok(known.map(|(done, stored)| decide::replay(op, done, stored, fingerprint)))
    }

    fn known(&self, op: OpId) -> Result<Option<(Applied, Option<[u8; 16]>)>> {
        let sql = "SELECT at, first_key, first_from, first_to, first_number,
                second_key, second_from, second_to, second_number, fingerprint
            FROM op WHERE space = ?1 AND id = ?2 AND forget > ?3";
        self.first(sql, (self.space, id(op), moment(self.now)), |row| {
            let mut changed = Vec::with_capacity(2);
            changed.extend(read_changed(row, 1)?);
            changed.extend(read_changed(row, 5)?);
            Ok((Applied { at: read_moment(row, 0)?, changed, replayed: true }, row.get(9)?))
        })
    }

    /// Remembers what a mutation did, unless its id is known: then answers with what it did back then, and changes nothing. An id that is
    /// forgotten, though not yet swept, gives way.
    pub(super) fn remember(
        &self,
        op: OpId,
        fingerprint: [u8; 16],
        applied: &Applied,
        remember: Duration,
    ) -> Result<Option<Outcome>> {
        let (first, second) = match applied.changed.as_slice() {
            [first] => (first, None),
            [first, second] => (first, Some(second)),
            // No change names more than two records, and each names one.
            _ => return Err(senseless(1, Type::Text, "a mutation changes one record or two")),
        };
        let sql = "INSERT INTO op (space, id, at, forget,
                first_key, first_from, first_to, first_number,
                second_key, second_from, second_to, second_number, fingerprint)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (space, id) DO UPDATE SET at = excluded.at, forget = excluded.forget,
                first_key = excluded.first_key, first_from = excluded.first_from,
                first_to = excluded.first_to, first_number = excluded.first_number,
                second_key = excluded.second_key, second_from = excluded.second_from,
                second_to = excluded.second_to, second_number = excluded.second_number,
                fingerprint = excluded.fingerprint
            WHERE op.forget <= excluded.at";
        let version = |version: Option<Version>| version.map(|Version(version)| version);
        let remembered = self.run(
            sql,
            params![
                self.space,
                id(op),
                moment(applied.at),
                moment(applied.at.after(remember)),
                first.key.as_str(),
                version(first.from),
                version(first.to),
                first.number,
                second.map(|second| second.key.as_str()),
                second.and_then(|second| version(second.from)),
                second.and_then(|second| version(second.to)),
                second.and_then(|second| second.number),
                fingerprint,
            ],
        )?;
        if remembered > 0 { Ok(None) } else { self.replay(op, fingerprint) }
    }
}

/// The change whose key is in this column, if there is one.
fn read_changed(row: &Row<'_>, column: usize) -> Result<Option<Changed>> {
    if row.get_ref(column)?.data_type() == Type::Null {
        return Ok(None);
    }
    Ok(Some(Changed {
        key: read_key(row, column)?,
        from: row.get::<_, Option<u64>>(column + 1)?.map(Version),
        to: row.get::<_, Option<u64>>(column + 2)?.map(Version),
        number: row.get(column + 3)?,
    }))
}

//! The rows of admissions: read for a decision, and written after it.

use std::time::Duration;

use interlock_sync::{
    decide::{self, AttemptRow, Before, CallRow, InUse, Rows, VersionRow, ViewRow},
    store::{Charge, Fence, Key, OpId, Places, Timestamp, Wish},
};
use rusqlite::{Error, Result, params};

use super::{
    super::values::{id, moment, read_id, read_moment},
    Tables,
};

/// What a key is the key of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Lock = 0,
    Place = 1,
}

impl Rows for Tables<'_, '_> {
    type Error = Error;

    fn last_number(&self) -> Result<u64> {
        self.number()
    }

    fn call(&self, call: OpId) -> Result<Option<CallRow>> {
        self.call_row(call)
    }

    fn wait(&self, charge: &Charge) -> Result<Option<Duration>> {
        Ok(decide::wait(self.rate(&charge.key)?.as_ref(), &charge.quota, self.now))
    }

    fn attempt(&self, key: &Key) -> Result<Option<AttemptRow>> {
        Tables::attempt(self, key)
    }

    fn lock(&self, wish: &Wish, ticket: Option<u64>) -> Result<Before> {
        let sql = "SELECT max(until) FROM hold
            WHERE space = ?1 AND kind = 0 AND key = ?2 AND until > ?3 AND is_shared <= ?4";
        let conflicting = i64::from(!wish.is_shared);
        let params = (self.space, wish.key.as_str(), moment(self.now), conflicting);
        let held_until =
            self.first(sql, params, |row| Ok(row.get::<_, Option<u64>>(0)?.map(Timestamp)))?.flatten();
        let (ahead, line_until) = self.line(Kind::Lock, &wish.key, ticket, conflicting)?;
        Ok(Before { held_until, line_until, ahead })
    }

    fn place(&self, places: &Places, ticket: Option<u64>) -> Result<InUse> {
        let sql = "SELECT count(*), min(until) FROM hold
            WHERE space = ?1 AND kind = 1 AND key = ?2 AND until > ?3";
        let params = (self.space, places.key.as_str(), moment(self.now));
        let taken = self.first(sql, params, |row| Ok((row.get(0)?, row.get::<_, Option<u64>>(1)?)))?;
        let (count, first_end) = taken.unwrap_or_default();
        let (ahead, line_until) = self.line(Kind::Place, &places.key, ticket, 1)?;
        Ok(InUse { count, first_end: first_end.map(Timestamp), line_until, ahead })
    }

    fn version(&self, key: &Key) -> Result<Option<VersionRow>> {
        self.version_row(key)
    }

    fn view(&self, reader: &Key, key: &Key) -> Result<Option<ViewRow>> {
        self.view_row(reader, key)
    }
}

impl Tables<'_, '_> {
    /// How many stand before a ticket, and when the first of them who is in the way loses its place.
    fn line(
        &self,
        kind: Kind,
        key: &Key,
        ticket: Option<u64>,
        conflicting: i64,
    ) -> Result<(u32, Option<Timestamp>)> {
        let ticket = ticket.map_or(i64::MAX, |ticket| moment(Timestamp(ticket)));
        let (key, now) = (key.as_str(), moment(self.now));
        let sql = "SELECT until FROM wait
            WHERE space = ?1 AND kind = ?2 AND key = ?3 AND ticket < ?4 AND until > ?5 AND is_shared <= ?6
            ORDER BY ticket LIMIT 1";
        let params = (self.space, kind as i64, key, ticket, now, conflicting);
        let first = self.first(sql, params, |row| read_moment(row, 0))?;
        let sql = "SELECT count(*) FROM wait
            WHERE space = ?1 AND kind = ?2 AND key = ?3 AND ticket < ?4 AND until > ?5";
        let ahead = self.first(sql, (self.space, kind as i64, key, ticket, now), |row| row.get(0))?;
        Ok((ahead.unwrap_or_default(), first))
    }

    pub(super) fn number(&self) -> Result<u64> {
        let sql = "SELECT number FROM space WHERE id = ?1";
        self.statement(sql, |statement| statement.query_row([self.space], |row| row.get(0)))
    }

    pub(super) fn put_number(&self, number: u64) -> Result<()> {
        let sql = "UPDATE space SET number = ?2 WHERE id = ?1 AND number < ?2";
        self.run(sql, (self.space, number)).map(drop)
    }

    pub(super) fn call_row(&self, call: OpId) -> Result<Option<CallRow>> {
        let sql = "SELECT ticket, fence, until FROM call WHERE space = ?1 AND id = ?2";
        self.first(sql, (self.space, id(call)), |row| {
            let until = read_moment(row, 2)?;
            Ok(match row.get::<_, Option<u64>>(0)? {
                Some(ticket) => CallRow::Waits { ticket, until },
                None => CallRow::Holds { fence: Fence(row.get(1)?), until },
            })
        })
    }

    pub(super) fn put_call(&self, call: OpId, row: CallRow) -> Result<()> {
        let (ticket, fence) = match row {
            CallRow::Waits { ticket, .. } => (Some(ticket), None),
            CallRow::Holds { fence: Fence(fence), .. } => (None, Some(fence)),
        };
        let sql = "INSERT OR REPLACE INTO call (space, id, ticket, fence, until) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(sql, (self.space, id(call), ticket, fence, moment(row.until()))).map(drop)
    }

    pub(super) fn hold(
        &self,
        kind: Kind,
        key: &Key,
        call: OpId,
        is_shared: bool,
        until: Timestamp,
    ) -> Result<()> {
        // Whose time is over has lost it for good, also if the clock is set back.
        let sql = "DELETE FROM hold WHERE space = ?1 AND kind = ?2 AND key = ?3 AND until <= ?4";
        self.run(sql, (self.space, kind as i64, key.as_str(), moment(self.now)))?;
        let sql = "INSERT OR REPLACE INTO hold (space, kind, key, call, is_shared, until)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(sql, params![self.space, kind as i64, key.as_str(), id(call), is_shared, moment(until)])
            .map(drop)
    }

    pub(super) fn is_held(&self, kind: Kind, key: &Key, call: OpId) -> Result<bool> {
        let sql = "SELECT 1 FROM hold
            WHERE space = ?1 AND kind = ?2 AND key = ?3 AND call = ?4 AND until > ?5";
        let params = (self.space, kind as i64, key.as_str(), id(call), moment(self.now));
        Ok(self.first(sql, params, |_| Ok(()))?.is_some())
    }

    pub(super) fn stand(
        &self,
        kind: Kind,
        key: &Key,
        ticket: u64,
        is_shared: bool,
        until: Timestamp,
    ) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO wait (space, kind, key, ticket, is_shared, until)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(sql, params![self.space, kind as i64, key.as_str(), ticket, is_shared, moment(until)])
            .map(drop)
    }

    pub(super) fn version_row(&self, key: &Key) -> Result<Option<VersionRow>> {
        let sql = "SELECT version, by, forget FROM version WHERE space = ?1 AND key = ?2";
        self.first(sql, (self.space, key.as_str()), |row| {
            Ok(VersionRow { version: row.get(0)?, by: read_id(row, 1)?, forget: read_moment(row, 2)? })
        })
    }

    pub(super) fn put_version(&self, key: &Key, row: VersionRow) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO version (space, key, version, by, forget)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(sql, (self.space, key.as_str(), row.version, id(row.by), moment(row.forget))).map(drop)
    }

    pub(super) fn view_row(&self, reader: &Key, key: &Key) -> Result<Option<ViewRow>> {
        let sql = "SELECT version, forget FROM view WHERE space = ?1 AND reader = ?2 AND key = ?3";
        self.first(sql, (self.space, reader.as_str(), key.as_str()), |row| {
            Ok(ViewRow { version: row.get(0)?, forget: read_moment(row, 1)? })
        })
    }

    pub(super) fn put_view(&self, reader: &Key, key: &Key, row: ViewRow) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO view (space, reader, key, version, forget)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let params = (self.space, reader.as_str(), key.as_str(), row.version, moment(row.forget));
        self.run(sql, params).map(drop)
    }
}

//! Permits that are out.

use std::time::Duration;

use interlock_sync::{
    decide::{self, PermitRow},
    store::{Key, OpId, PermitAnswer, PermitRequest},
};
use rusqlite::Result;

use super::{
    super::values::{id, moment, read_id, read_moment},
    Tables,
};

impl Tables<'_, '_> {
    pub(in super::super) fn acquire_permit(&self, request: &PermitRequest) -> Result<PermitAnswer> {
        self.with_permits(&request.key, |rows| decide::acquire_permit(rows, request, self.now))
    }

    pub(in super::super) fn renew_permit(&self, key: &Key, holder: OpId, ttl: Duration) -> Result<bool> {
        self.with_permits(key, |rows| decide::renew_permit(rows, holder, ttl, self.now))
    }

    pub(in super::super) fn release_permit(&self, key: &Key, holder: OpId) -> Result<bool> {
        self.with_permits(key, |rows| decide::release_permit(rows, holder, self.now))
    }

    /// Decides on the permits of a key, and stores what that changed of them.
    fn with_permits<T>(&self, key: &Key, decide: impl FnOnce(&mut Vec<PermitRow>) -> T) -> Result<T> {
        let sql = "SELECT holder, until FROM permit WHERE space = ?1 AND key = ?2";
        let before = self.all(sql, (self.space, key.as_str()), |row| {
            Ok(PermitRow { holder: read_id(row, 0)?, until: read_moment(row, 1)? })
        })?;
        let mut after = before.clone();
        let answer = decide(&mut after);
        let gone = |row: &&PermitRow| !after.iter().any(|kept| kept.holder == row.holder);
        for PermitRow { holder, .. } in before.iter().filter(gone) {
            let sql = "DELETE FROM permit WHERE space = ?1 AND key = ?2 AND holder = ?3";
            self.run(sql, (self.space, key.as_str(), id(*holder)))?;
        }
        for PermitRow { holder, until } in after.iter().filter(|row| !before.contains(row)) {
            let sql = "INSERT INTO permit (space, key, holder, until) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET until = excluded.until";
            self.run(sql, (self.space, key.as_str(), id(*holder), moment(*until)))?;
        }
        Ok(answer)
    }
}

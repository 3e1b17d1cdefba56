//! Leases and their fences.

use std::time::Duration;

use interlock_sync::{
    decide::{self, LeaseRow},
    store::{Fence, Key, LeaseAnswer, LeaseRequest, OpId},
};
use rusqlite::Result;

use super::{
    super::values::{id, moment, read_moment},
    Tables,
};

impl Tables<'_, '_> {
    pub(super) fn lease(&self, key: &Key) -> Result<Option<LeaseRow>> {
        let sql = "SELECT fence, owner, until FROM lease WHERE space = ?1 AND key = ?2";
        self.first(sql, (self.space, key.as_str()), |row| {
            let owner = row.get::<_, Option<[u8; 16]>>(1)?.map(|id| OpId(u128::from_be_bytes(id)));
            Ok(LeaseRow { fence: Fence(row.get(0)?), owner, until: read_moment(row, 2)? })
        })
    }

    pub(in super::super) fn acquire_lease(&self, request: &LeaseRequest) -> Result<LeaseAnswer> {
        let held = self.lease(&request.key)?;
        let (answer, row) = decide::acquire_lease(held.as_ref(), request, self.now);
        self.put_lease(&request.key, row)?;
        Ok(answer)
    }

    pub(in super::super) fn renew_lease(&self, key: &Key, fence: Fence, ttl: Duration) -> Result<bool> {
        let row = decide::renew_lease(self.lease(key)?.as_ref(), fence, ttl, self.now);
        self.put_lease(key, row)
    }

    pub(in super::super) fn release_lease(&self, key: &Key, fence: Fence) -> Result<bool> {
        let row = decide::release_lease(self.lease(key)?.as_ref(), fence, self.now);
        self.put_lease(key, row)
    }

    /// Stores a row that was decided on, and says whether there was one.
    fn put_lease(&self, key: &Key, row: Option<LeaseRow>) -> Result<bool> {
        let Some(LeaseRow { fence: Fence(fence), owner, until }) = row else { return Ok(false) };
        let sql = "INSERT INTO lease (space, key, fence, owner, until) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET fence = excluded.fence, owner = excluded.owner, until = excluded.until";
        self.run(sql, (self.space, key.as_str(), fence, owner.map(id), moment(until)))?;
        Ok(true)
    }
}

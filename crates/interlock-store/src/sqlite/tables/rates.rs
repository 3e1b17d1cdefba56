//! Quotas.

use interlock_sync::{
    decide::{self, RateRow},
    store::{Key, Quota, Taken, Timestamp},
};
use rusqlite::{Result, Row, types::Type};

use super::{
    super::values::{moment, read_moment, senseless},
    Tables,
};

impl Tables<'_, '_> {
    pub(in super::super) fn take(&self, key: &Key, quota: &Quota, cost: u32) -> Result<Taken> {
        let before = self.rate(key)?;
        let (taken, after) = decide::take(before.clone(), quota, cost, self.now);
        // A log that refuses is often as it was, and then there is nothing to commit.
        if let Some(row) = after.filter(|row| before.as_ref() != Some(row)) {
            self.put_rate(key, &row, quota)?;
        }
        Ok(taken)
    }

    pub(super) fn rate(&self, key: &Key) -> Result<Option<RateRow>> {
        let sql = "SELECT full, grants FROM rate WHERE space = ?1 AND key = ?2";
        self.first(sql, (self.space, key.as_str()), read_rate)
    }

    fn put_rate(&self, key: &Key, row: &RateRow, quota: &Quota) -> Result<()> {
        let (full, grants) = match row {
            RateRow::Bucket(full) => (Some(moment(*full)), None),
            RateRow::Log(grants) => {
                let bytes = grants.iter().flat_map(|grant| grant.0.to_be_bytes());
                (None, Some(bytes.collect::<Vec<u8>>()))
            }
        };
        let sql = "INSERT INTO rate (space, key, full, grants, idle) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET full = excluded.full, grants = excluded.grants, idle = excluded.idle";
        let idle = moment(row.idle_from(quota));
        self.run(sql, (self.space, key.as_str(), full, grants, idle)).map(drop)
    }
}

fn read_rate(row: &Row<'_>) -> Result<RateRow> {
    let Some(grants) = row.get_ref(1)?.as_blob_or_null()? else {
        return Ok(RateRow::Bucket(read_moment(row, 0)?));
    };
    let (grants, rest) = grants.as_chunks();
    if !rest.is_empty() {
        return Err(senseless(1, Type::Blob, "a log of grants with a part of one"));
    }
    Ok(RateRow::Log(grants.iter().map(|grant| Timestamp(u64::from_be_bytes(*grant))).collect()))
}

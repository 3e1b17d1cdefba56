//! The operations of the store, each as the statements that run inside the transaction.

mod attempts;
mod leases;
mod logs;
mod ops;
mod permits;
mod rates;
mod records;
mod sweep;

use interlock_sync::store::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

use super::values::storable;

/// The tables as one transaction sees them: one namespace, at one moment of the store's clock.
///
/// Changes may only be made while the write lock is held. Then nobody, in no process, decides on rows that are about to change, and
/// the moment was taken when all who held the lock before had theirs.
pub(super) struct Tables<'a> {
    connection: &'a Connection,
    space: i64,
    now: Timestamp,
}

impl<'a> Tables<'a> {
    pub(super) fn new(connection: &'a Connection, space: i64, now: Timestamp) -> Self {
        Self { connection, space, now: storable(now) }
    }

    /// What the tests make trouble on.
    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        self.connection
    }

    /// The first row of a query, if there is one.
    fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_row(params, read).optional()
    }

    /// All rows of a query.
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.connection.prepare_cached(sql)?.query_map(params, read)?.collect()
    }

    /// How many rows a statement changed.
    fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.connection.prepare_cached(sql)?.execute(params)
    }

    /// Gives out the next versions and returns the last of them. None is given out twice; some may never be seen.
    fn next_versions(&self, how_many: usize) -> Result<u64> {
        self.connection
            .prepare_cached("UPDATE space SET version = version + ?2 WHERE id = ?1 RETURNING version")?
            .query_row((self.space, how_many), |row| row.get(0))
    }

    /// Writes something that means nothing, so that the next commit reaches the disk.
    pub(super) fn touch(&self) -> Result<()> {
        self.next_versions(1).map(drop)
    }
}

/// How many rows to read, as SQLite counts them.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

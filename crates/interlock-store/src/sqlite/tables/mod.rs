//! The operations of the store, each as the statements that run inside the transaction.

mod admission_rows;
mod admissions;
mod attempts;
mod leases;
mod logs;
mod ops;
mod permits;
mod rates;
mod records;
mod statements;
mod sweep;

use std::cell::Cell;

use interlock_sync::store::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Result, Row, Statement};

pub(super) use self::statements::Statements;
use super::values::storable;

/// The tables as one transaction sees them: one namespace, at one moment of the store's clock.
///
/// Changes may only be made while the write lock is held. Then nobody, in no process, decides on rows that are about to change, and
/// the moment was taken when all who held the lock before had theirs.
pub(super) struct Tables<'a, 'c> {
    connection: &'a Connection,
    /// Those of the writer; a reader, which has one question at a time, leaves them to its connection.
    statements: Option<&'a Statements<'c>>,
    space: i64,
    versions: &'a Versions,
    now: Timestamp,
}

/// The last version that a transaction gave out: read when the first one is needed, and written once, before the commit.
#[derive(Debug, Default)]
pub(super) struct Versions {
    last: Cell<Option<u64>>,
}

impl<'a, 'c> Tables<'a, 'c> {
    pub(super) fn new(
        connection: &'a Connection,
        space: i64,
        versions: &'a Versions,
        now: Timestamp,
    ) -> Self {
        Self { connection, statements: None, space, versions, now: storable(now) }
    }

    /// The same, with statements that are kept at hand.
    pub(super) fn with(self, statements: &'a Statements<'c>) -> Self {
        Self { statements: Some(statements), ..self }
    }

    /// What the tests make trouble on.
    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        self.connection
    }

    /// The first row of a query, if there is one.
    fn first<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.statement(sql, |statement| statement.query_row(params, read).optional())
    }

    /// All rows of a query.
    fn all<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.statement(sql, |statement| statement.query_map(params, read)?.collect())
    }

    /// How many rows a statement changed.
    fn run(&self, sql: &'static str, params: impl Params) -> Result<usize> {
        self.statement(sql, |statement| statement.execute(params))
    }

    fn statement<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.statements {
            Some(statements) => statements.run(sql, work),
            None => work(&mut *self.connection.prepare_cached(sql)?),
        }
    }

    /// Gives out the next versions and returns the last of them. None is given out twice; some may never be seen.
    fn next_versions(&self, how_many: usize) -> Result<u64> {
        let last = match self.versions.last.get() {
            Some(last) => last,
            None => self.statement("SELECT version FROM space WHERE id = ?1", |statement| {
                statement.query_row([self.space], |row| row.get(0))
            })?,
        };
        let last = last + how_many as u64;
        self.versions.last.set(Some(last));
        Ok(last)
    }

    /// Writes down which versions were given out. No commit may come without it.
    pub(super) fn keep_versions(&self) -> Result<()> {
        let Some(last) = self.versions.last.take() else { return Ok(()) };
        self.run("UPDATE space SET version = ?2 WHERE id = ?1", (self.space, last)).map(drop)
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

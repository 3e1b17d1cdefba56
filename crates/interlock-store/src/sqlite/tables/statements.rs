//! The statements of the connection that writes, kept at hand.

use std::{cell::RefCell, ptr};

use rusqlite::{Connection, Result, Statement};

/// Statements that were prepared once, found by where their text lies.
///
/// The connection keeps statements too, but finds them by their text, which it copies and hashes for every use: a tenth of what a small
/// operation takes.
pub(in super::super) struct Statements<'c> {
    connection: &'c Connection,
    idle: RefCell<Vec<(&'static str, Statement<'c>)>>,
}

impl<'c> Statements<'c> {
    pub(in super::super) fn new(connection: &'c Connection) -> Self {
        Self { connection, idle: RefCell::default() }
    }

    /// Uses a statement. One that panics or cannot be prepared is forgotten, and prepared anew the next time.
    pub(in super::super) fn run<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut statement = match self.take(sql) {
            Some(statement) => statement,
            None => self.connection.prepare(sql)?,
        };
        let end = work(&mut statement);
        self.idle.borrow_mut().push((sql, statement));
        end
    }

    fn take(&self, sql: &'static str) -> Option<Statement<'c>> {
        let mut idle = self.idle.borrow_mut();
        // What was used last is used next.
        let at = idle.iter().rposition(|(known, _)| ptr::eq(*known, sql))?;
        Some(idle.swap_remove(at).1)
    }
}

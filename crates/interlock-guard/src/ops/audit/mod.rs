//! The audit log: who called what, how it was decided and how it ended, one line of JSON each.
//!
//! A decision is written when it is made and not when the call has ended, so that a call that was under way when the guard was killed is
//! in the log as well.

mod file;
mod line;

use std::{path::Path, time::SystemTime};

use super::{
    lines::Lines,
    options::{AuditOptions, OpsError},
    table::Here,
};
use crate::event::Event;

use self::file::AuditFile;

/// The audit log.
#[derive(Debug)]
pub(super) struct Audit {
    lines: Lines,
    arguments: Option<usize>,
}

impl Audit {
    /// Opens the file and starts the thread that writes it.
    pub(super) fn open(options: &AuditOptions) -> Result<Self, OpsError> {
        let path: &Path = &options.path;
        let file =
            AuditFile::open(path).map_err(|source| OpsError::Audit { path: path.to_owned(), source })?;
        let lines = Lines::start("audit", file).map_err(OpsError::Thread)?;
        Ok(Self { lines, arguments: options.arguments })
    }

    /// Writes an event down, if it is one of a call or of a message. `here` is what was known of the call.
    pub(super) fn note(&self, event: &Event<'_>, here: Option<&Here>) {
        line::with(event, here, SystemTime::now(), self.arguments, |line| self.lines.push(line));
    }

    /// How many lines were never written.
    pub(super) fn dropped(&self) -> u64 {
        self.lines.dropped()
    }

    /// Opens the file again before the next line.
    pub(super) fn reopen(&self) {
        self.lines.reopen();
    }

    /// Writes what is left.
    pub(super) fn close(&self) {
        self.lines.close();
    }
}

//! SQLite's codes, folded to what a caller can act on.

use std::sync::Arc;

use interlock_sync::store::StoreError;
use rusqlite::{Error, ErrorCode};

/// Whether another connection has the file.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What a failure before the commit means: nothing has taken effect, so the question is only whether trying again may help.
pub(super) fn before_commit(what: &str, error: Arc<Error>) -> StoreError {
    if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
        return StoreError::unavailable(NO_SPACE, error);
    }
    let passing = match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed,
        ) => true,
        // Codes without a fault of their own, a refused constraint and a row that makes no sense: it will be so next time.
        _ => false,
    };
    if passing { StoreError::unavailable(what, error) } else { StoreError::broken(what, error) }
}

/// What a failed commit means to each operation that was in it.
///
/// A file that was locked was not written to. A disk without space took less than a whole page of the log, and a transaction whose last page
/// is not whole is none. After any other failure the end of the transaction may be on the disk all the same, and the next process that
/// recovers the file would find it.
pub(super) fn at_commit(error: &Arc<Error>) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::unavailable(NO_SPACE, Arc::clone(error)),
        _ if is_busy(error) => StoreError::unavailable("another process has the file", Arc::clone(error)),
        _ => StoreError::in_doubt("the commit failed", Arc::clone(error)),
    }
}

const NO_SPACE: &str = "no space is left for the file; nothing was changed";

/// The failure of a question: it may be asked again, and nothing can have come of it.
pub(super) fn not_in_doubt(error: StoreError) -> StoreError {
    match error {
        StoreError::InDoubt { reason, source } => StoreError::Unavailable { reason, source },
        other => other,
    }
}

/// The file was replaced or removed while it was open: whoever opens it now gets another one, so this one must grant nothing more.
pub(super) fn moved() -> StoreError {
    let reason = "the file was moved, replaced or removed while it was in use; open it again".into();
    StoreError::Broken { reason, source: None }
}

/// The store was closed by whoever had it.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable { reason: "the store was closed; open it again".into(), source: None }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(code: i32) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn before_the_commit_nothing_is_in_doubt() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE] {
            let error = before_commit("no luck", Arc::new(failure(code)));
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        }
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_READONLY, ffi::SQLITE_CONSTRAINT] {
            let error = before_commit("no luck", Arc::new(failure(code)));
            assert!(matches!(error, StoreError::Broken { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_disk_without_space_is_said_to_be_one_and_leaves_no_doubt() {
        let full = Arc::new(failure(ffi::SQLITE_FULL));
        for error in [at_commit(&full), before_commit("no luck", full)] {
            assert!(matches!(&error, StoreError::Unavailable { .. }), "{error:?}");
            assert!(error.to_string().contains("no space"), "{error}");
        }
    }

    #[test]
    fn a_failed_commit_is_in_doubt_unless_the_file_was_locked() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_CORRUPT] {
            assert!(at_commit(&Arc::new(failure(code))).is_in_doubt());
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED] {
            let error = at_commit(&Arc::new(failure(code)));
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        }
    }
}

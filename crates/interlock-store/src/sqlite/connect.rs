//! Connections to the file, set up so that what is committed stays.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{patience, schema};

/// Before this version a checkpoint and a commit at the same moment could corrupt a file in WAL mode.
const OLDEST: i32 = 3_051_003;

/// More than there are statements, so that none is parsed twice.
const STATEMENTS: usize = 64;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("`{0}` is a folder; name a file in it")]
    Folder(PathBuf),
    #[error("the folder `{parent}` cannot be used; it must exist before the file in it is made")]
    Parent { parent: PathBuf, source: io::Error },
    #[error("`{file}` cannot be looked at")]
    Hidden { file: PathBuf, source: io::Error },
    #[error("`{0}` is no SQLite database; name another file, or move this one away")]
    NotADatabase(PathBuf),
    #[error("`{0}` is the database of another application; name another file")]
    Foreign(PathBuf),
    #[error(
        "`{file}` has schema {found}, and this version knows only {known}; use the newer version that wrote it"
    )]
    Newer { file: PathBuf, found: i64, known: i64 },
    #[error(
        "`{file}` cannot be shared: SQLite keeps to journal mode `{mode}`, not WAL; the file must be on a local disk"
    )]
    NoWal { file: PathBuf, mode: String },
    #[error("SQLite {0} can corrupt files that several processes use; build with 3.51.3 or later")]
    OldLibrary(&'static str),
    #[error("SQLite refused")]
    Sqlite(#[from] rusqlite::Error),
    #[error("no thread could be started")]
    Thread(#[from] io::Error),
}

/// A connection that writes, and the number of its namespace. The file and its tables are made if they are not there.
pub(super) fn writer(file: &Path, space: &str, longest: Duration) -> Result<(Connection, i64), Problem> {
    if rusqlite::version_number() < OLDEST {
        return Err(Problem::OldLibrary(rusqlite::version()));
    }
    set_up_writer(file, space, longest).map_err(|problem| match problem {
        Problem::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Problem::NotADatabase(file.into())
        }
        other => other,
    })
}

fn set_up_writer(file: &Path, space: &str, longest: Duration) -> Result<(Connection, i64), Problem> {
    let connection = connect(file, OpenFlags::SQLITE_OPEN_CREATE, longest)?;
    schema::is_ready(&connection, file)?;
    let mode: String = patience::until_free(longest, || {
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
    })?;
    if mode != "wal" {
        return Err(Problem::NoWal { file: file.into(), mode });
    }
    // What a savepoint would put back stays in memory: a full or missing folder for temporary files hurts nobody.
    connection.pragma_update(None, "temp_store", "memory")?;
    schema::migrate(&connection, file)?;
    let space = schema::space(&connection, space)?;
    // The writer thread waits by itself, because it has other things to do meanwhile.
    patience::never_wait(&connection)?;
    Ok((connection, space))
}

/// A connection that only reads. The file must be there.
pub(super) fn reader(file: &Path, longest: Duration) -> rusqlite::Result<Connection> {
    // Not opened read-only, because a reader takes part in the bookkeeping of the WAL.
    let connection = connect(file, OpenFlags::empty(), longest)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn connect(file: &Path, extra: OpenFlags, longest: Duration) -> rusqlite::Result<Connection> {
    // Each connection is used by one thread at a time, so SQLite need not lock it once more.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    patience::wait_when_busy(&mut connection, longest)?;
    // A reader too, since whoever closes the file last writes to it.
    connection.pragma_update(None, "synchronous", "full")?;
    // Only macOS tells a disk that was written to from one that holds the data.
    connection.pragma_update(None, "fullfsync", true)?;
    Ok(connection)
}

/// Whether the file under the path is not the one that is open here any more.
///
/// Another process that opens the path now gets another file, and both would grant the same thing. Elsewhere than on Unix an open
/// file cannot be moved.
pub(super) fn has_moved(connection: &Connection) -> rusqlite::Result<bool> {
    #[cfg(unix)]
    {
        let mut moved = 0;
        connection.file_control(None::<&str>, rusqlite::FileControl::HasMoved(&mut moved))?;
        Ok(moved != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = connection;
        Ok(false)
    }
}

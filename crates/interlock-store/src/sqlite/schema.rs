//! The tables, and the steps by which an older file gets them.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::connect::Problem;

/// What leads from each version to the next; a file's version says how many of them it has had.
const STEPS: &[&str] =
    &[include_str!("schema.sql"), include_str!("schema_2.sql"), include_str!("schema_3.sql")];

/// Marks the file as ours, in the header field that SQLite keeps for it: `ILCK`.
const OURS: i64 = 0x494c_434b;

/// Whether the file may become or is ours, and whether it has all tables. Changes nothing, so it comes before everything that does.
pub(super) fn is_ready(connection: &Connection, file: &Path) -> Result<bool, Problem> {
    let mark: i64 = connection.pragma_query_one(None, "application_id")?;
    let version: i64 = connection.pragma_query_one(None, "user_version")?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    match (mark, version) {
        (OURS, version) if version > known => {
            Err(Problem::Newer { file: file.into(), found: version, known })
        }
        (OURS, version) if version > 0 => Ok(version == known),
        (0, 0) if is_empty(connection)? => Ok(false),
        _ => Err(Problem::Foreign(file.into())),
    }
}

/// Brings the file to the newest version, once: of several processes that try, the others wait and find it done.
pub(super) fn migrate(connection: &Connection, file: &Path) -> Result<(), Problem> {
    if is_ready(connection, file)? {
        return Ok(());
    }
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    let migrated = migrate_exclusively(connection, file);
    if migrated.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    migrated
}

fn migrate_exclusively(connection: &Connection, file: &Path) -> Result<(), Problem> {
    if !is_ready(connection, file)? {
        let version: usize = connection.pragma_query_one(None, "user_version")?;
        for step in STEPS.iter().skip(version) {
            connection.execute_batch(step)?;
        }
        connection.pragma_update(None, "user_version", STEPS.len())?;
        connection.pragma_update(None, "application_id", OURS)?;
    }
    Ok(connection.execute_batch("COMMIT")?)
}

/// The number that stands for a namespace in every row; a new one if it is the first time.
pub(super) fn space(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    let find =
        || connection.query_row("SELECT id FROM space WHERE name = ?1", [name], |row| row.get(0)).optional();
    if let Some(space) = find()? {
        return Ok(space);
    }
    connection.execute("INSERT INTO space (name) VALUES (?1) ON CONFLICT DO NOTHING", [name])?;
    find()?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

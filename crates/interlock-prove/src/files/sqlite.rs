//! The rows of a SQLite file, read from a copy: to open the file itself would take part in the server's locks and its write-ahead log.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};
use serde_json::{Map, Value, json};

/// How such a file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// What belongs to it: itself, its write-ahead log, what an unfinished transaction would be taken back with.
const PARTS: &[&str] = &["", "-wal", "-journal"];
/// A larger file is not copied.
const LARGEST: u64 = 16 << 20;
/// More tables and rows are not looked at; of a table with more rows only how many there are is compared.
const MOST_TABLES: usize = 100;
const MOST_ROWS: usize = 500;
/// A generated column may take as long as whoever wrote it likes.
const LONGEST: Duration = Duration::from_secs(2);

/// Whether a file begins like one of these.
pub(super) fn is_sqlite(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC)
}

/// The rows of all tables; `None` where they cannot be read.
pub(super) fn rows(file: &Path) -> Option<Value> {
    let folder = tempfile::tempdir().ok()?;
    let copy = folder.path().join("copy");
    for part in PARTS {
        let from = with_ending(file, part);
        match fs::symlink_metadata(&from) {
            Ok(about) if about.is_file() && about.len() <= LARGEST => {
                fs::copy(&from, with_ending(&copy, part)).ok()?;
            }
            Err(_) if !part.is_empty() => {}
            _ => return None,
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&copy, flags).ok()?;
    // Functions in a schema that we do not know are not called.
    connection.pragma_update(None, "trusted_schema", false).ok()?;
    let interrupt = connection.get_interrupt_handle();
    let (done, is_done) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if is_done.recv_timeout(LONGEST) == Err(mpsc::RecvTimeoutError::Timeout) {
            interrupt.interrupt();
        }
    });
    let read = tables(&connection).ok();
    drop(done);
    let _ = watch.join();
    read
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// What users of the database made. Tables in which an index for full text keeps its parts depend on how often it was written, not on what is there.
fn tables(connection: &Connection) -> rusqlite::Result<Value> {
    let mut listed = connection.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name",
    )?;
    let names = listed.query_map([], |row| row.get::<_, String>(0))?;
    let names: Vec<String> = names.take(MOST_TABLES).collect::<Result<_, _>>()?;
    let mut tables = Map::new();
    for name in names {
        let rows = table(connection, &name)?;
        tables.insert(name, rows);
    }
    Ok(Value::Object(tables))
}

fn table(connection: &Connection, name: &str) -> rusqlite::Result<Value> {
    let quoted = name.replace('"', "\"\"");
    let count: i64 =
        connection.query_row(&format!("SELECT count(*) FROM \"{quoted}\""), [], |row| row.get(0))?;
    if usize::try_from(count).unwrap_or(usize::MAX) > MOST_ROWS {
        return Ok(json!({ "rows": count }));
    }
    let mut selected = connection.prepare(&format!("SELECT * FROM \"{quoted}\" LIMIT {MOST_ROWS}"))?;
    let columns: Vec<String> = selected.column_names().map(str::to_owned).collect();
    let rows = selected.query_map([], |row| fields(row, &columns))?;
    rows.collect()
}

fn fields(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Value> {
    let mut fields = Map::new();
    for (at, column) in columns.iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
            // Of what is no text only how much of it there is.
            ValueRef::Blob(bytes) => json!({ "bytes": bytes.len() }),
        };
        fields.insert(column.clone(), value);
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_while_the_server_has_them_in_its_log_and_indexes_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.db");
        let open = Connection::open(&file).unwrap();
        open.pragma_update(None, "journal_mode", "wal").unwrap();
        open.execute_batch(
            "CREATE TABLE \"a \"\"note\"(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, picture BLOB);
             INSERT INTO \"a \"\"note\"(text, picture) VALUES ('one', NULL), ('two', x'0102');
             CREATE TABLE many(n INTEGER);
             INSERT INTO many WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 600) SELECT n FROM up;
             CREATE VIRTUAL TABLE found USING fts5(text);
             INSERT INTO found VALUES ('one');",
        )
        .unwrap();
        assert!(folder.path().join("notes.db-wal").exists(), "the rows are in the log");
        let read = rows(&file).unwrap();
        assert_eq!(
            read,
            json!({
                "a \"note": [
                    {"id": 1, "text": "one", "picture": null},
                    {"id": 2, "text": "two", "picture": {"bytes": 2}},
                ],
                "many": {"rows": 600},
            })
        );
        let bytes = fs::read(&file).unwrap();
        assert!(is_sqlite(&bytes));
    }

    #[test]
    fn a_file_that_only_begins_like_one_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        fs::write(&file, [MAGIC, &[0xff; 4096]].concat()).unwrap();
        assert_eq!(rows(&file), None);
        assert_eq!(rows(&folder.path().join("none")), None);
        std::os::unix::fs::symlink(&file, folder.path().join("link")).unwrap();
        assert_eq!(rows(&folder.path().join("link")), None);
    }
}

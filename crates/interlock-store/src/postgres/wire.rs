//! Our values as PostgreSQL's, and back.

use std::time::Duration;

use interlock_sync::store::{Key, OpId, Timestamp};
use tokio_postgres::{Row, types::FromSql};

use super::fault::Failure;

/// The longest time that is told apart, in µs: some 70,000 years. Four of them fit a `bigint`, so a sum of a moment and two of
/// them does.
pub(super) const FOREVER: i64 = i64::MAX / 4;

/// A duration in µs.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(FOREVER).min(FOREVER)
}

/// A product of times, no longer than for ever.
pub(super) fn micros_times(micros: u64, times: u32) -> i64 {
    i64::try_from(micros.saturating_mul(u64::from(times))).unwrap_or(FOREVER).min(FOREVER)
}

/// A fence or version to be compared with the stored one. The store gives out none that does not fit a `bigint`, and no
/// negative one: so what does not fit becomes one that equals none.
pub(super) fn token(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(-1)
}

/// A number of rows, or a place to go on behind: no table has more.
pub(super) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An id, in the order in which it is displayed.
pub(super) fn id(op: OpId) -> [u8; 16] {
    op.0.to_be_bytes()
}

/// An id and what tells its operation from another under the same id, as the functions of `ops.sql` take them.
pub(super) fn id_of(op: OpId, fingerprint: [u8; 16]) -> Vec<u8> {
    [id(op), fingerprint].concat()
}

/// A column of a row.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, Failure> {
    row.try_get(name).map_err(Failure::unreadable)
}

/// A number that is never negative.
pub(super) fn unsigned(row: &Row, name: &str) -> Result<u64, Failure> {
    to_unsigned(column(row, name)?)
}

/// A number that is never negative, or null.
pub(super) fn unsigned_or_null(row: &Row, name: &str) -> Result<Option<u64>, Failure> {
    column::<Option<i64>>(row, name)?.map(to_unsigned).transpose()
}

/// A count, which may be greater than fits.
pub(super) fn small(row: &Row, name: &str) -> Result<u32, Failure> {
    Ok(u32::try_from(unsigned(row, name)?).unwrap_or(u32::MAX))
}

/// A length of time.
pub(super) fn wait(row: &Row, name: &str) -> Result<Duration, Failure> {
    unsigned(row, name).map(Duration::from_micros)
}

/// A moment.
pub(super) fn moment(row: &Row, name: &str) -> Result<Timestamp, Failure> {
    unsigned(row, name).map(Timestamp)
}

/// A key.
pub(super) fn key(row: &Row, name: &str) -> Result<Key, Failure> {
    to_key(column(row, name)?)
}

/// A key that was stored, and so is one.
pub(super) fn to_key(text: &str) -> Result<Key, Failure> {
    Key::new(text).map_err(|_| Failure::nonsense("PostgreSQL holds a key that is none"))
}

fn to_unsigned(value: i64) -> Result<u64, Failure> {
    u64::try_from(value)
        .map_err(|_| Failure::nonsense("PostgreSQL holds a negative number where none can be"))
}

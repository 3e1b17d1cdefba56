//! What a column holds, and what it means to us.

use interlock_sync::store::{Content, Fingerprint, Key, OpId, Record, Timestamp, Version};
use rusqlite::{
    Error, Result, Row, ToSql,
    types::{ToSqlOutput, Type, ValueRef},
};

/// The greatest moment a column can hold. "For ever" is later than that, and there it means the same.
const LATEST: Timestamp = Timestamp(i64::MAX.unsigned_abs());

/// A moment that a column can hold.
pub(super) fn storable(moment: Timestamp) -> Timestamp {
    moment.min(LATEST)
}

/// A moment as a column holds it: 64 bits with a sign, so that SQLite compares it as we do.
pub(super) fn moment(moment: Timestamp) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

/// An id as a column holds it.
pub(super) fn id(OpId(id): OpId) -> [u8; 16] {
    id.to_be_bytes()
}

/// Content as a column holds it, told apart by its type.
pub(super) struct Stored<'a>(pub(super) &'a Content);

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Content::Number(number) => (*number).into(),
            Content::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

pub(super) fn read_moment(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    row.get(column).map(Timestamp)
}

pub(super) fn read_id(row: &Row<'_>, column: usize) -> Result<OpId> {
    Ok(OpId(u128::from_be_bytes(row.get(column)?)))
}

pub(super) fn read_fingerprint(row: &Row<'_>, column: usize) -> Result<Fingerprint> {
    row.get(column).map(Fingerprint)
}

pub(super) fn read_key(row: &Row<'_>, column: usize) -> Result<Key> {
    let text = row.get_ref(column)?.as_str()?;
    Key::new(text).map_err(|invalid| senseless(column, Type::Text, invalid))
}

/// A record whose version is in this column and whose content is in the next.
pub(super) fn read_record(row: &Row<'_>, column: usize) -> Result<Record> {
    let version = Version(row.get(column)?);
    let content = match row.get_ref(column + 1)? {
        ValueRef::Integer(number) => Content::Number(number),
        ValueRef::Blob(bytes) => Content::Bytes(bytes.to_vec()),
        other => {
            return Err(senseless(column + 1, other.data_type(), "neither a number nor bytes"));
        }
    };
    Ok(Record { version, content })
}

/// A row that this program cannot have written.
pub(super) fn senseless(
    column: usize,
    holds: Type,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::FromSqlConversionFailure(column, holds, why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_ever_stays_later_than_every_moment() {
        assert_eq!(moment(Timestamp(u64::MAX)), i64::MAX);
        assert_eq!(storable(Timestamp(u64::MAX)), LATEST);
        assert_eq!(moment(Timestamp(17)), 17);
    }
}

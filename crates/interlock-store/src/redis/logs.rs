//! Append-only logs: a stream each, whose ids are the places.

use interlock_sync::{
    decide,
    store::{Key, LogEntry, OpId, StoreError, Timestamp},
};

use super::{answer::nonsense, records::read_report, span::millis, store::RedisStore};

/// A stream's entry as the server returns it: its id, then names and values in turn.
type Row = (String, (String, u64, String, Vec<u8>));

pub(super) async fn append(store: &RedisStore, op: OpId, log: &Key, entry: &[u8]) -> Result<u64, StoreError> {
    let mut call = store.scripts.append.prepare_invoke();
    call.key(store.keys.op(&op)).key(store.keys.log(log));
    call.arg(millis(store.remember_ops)).arg(log.as_str()).arg(entry);
    decide::place_of(op, log, &read_report(&mut store.link.run(&call).await?)?)
}

pub(super) async fn read(
    store: &RedisStore,
    log: &Key,
    after: u64,
    limit: usize,
) -> Result<Vec<LogEntry>, StoreError> {
    let mut command = redis::cmd("XRANGE");
    command.arg(store.keys.log(log)).arg(format!("({after}-0")).arg("+");
    command.arg("COUNT").arg(i64::try_from(limit).unwrap_or(i64::MAX));
    // A count of none is answered with nothing at all, where others are answered with an empty list.
    let rows: Option<Vec<Row>> = store.link.ask(&command).await?;
    rows.unwrap_or_default().into_iter().map(read_row).collect()
}

fn read_row((id, (_, at, _, entry)): Row) -> Result<LogEntry, StoreError> {
    let place = id.split_once('-').and_then(|(place, _)| place.parse().ok());
    let sequence = place.ok_or_else(|| nonsense(&id))?;
    Ok(LogEntry { sequence, at: Timestamp(at), entry })
}

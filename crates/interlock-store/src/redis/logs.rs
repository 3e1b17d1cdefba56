//! Append-only logs: a stream each, whose ids are the places.

use interlock_sync::{
    decide,
    store::{Appended, Key, LogEntry, OpId, StoreError, Timestamp},
};

use super::{
    answer::{Answer, nonsense},
    call::{Call, print},
    records::read_report,
    store::RedisStore,
};

/// A stream's entry as the server returns it: its id, then names and values. The first value is what was appended; the second is there only
/// if the clock said something else than the id, and says what.
type Row = (String, Vec<(String, Vec<u8>)>);

pub(super) async fn append(
    store: &RedisStore,
    op: OpId,
    log: &Key,
    entry: &[u8],
) -> Result<Appended, StoreError> {
    let fingerprint = decide::append_fingerprint(log, entry).short();
    let keys = [store.keys.op(op), store.keys.log(log)];
    let call = Call::new(&store.scripts.append, keys);
    let call = call.shown(print(fingerprint)).arg(log.as_str()).arg(entry);
    let answer = store.link.text(&call).await?;
    let mut answer = Answer::new(&answer);
    let word = answer.word()?;
    decide::place_of(log, &read_report(word, &mut answer)?.outcome(op, fingerprint))
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

fn read_row((id, fields): Row) -> Result<LogEntry, StoreError> {
    let place = id.split_once('-').and_then(|(place, _)| place.parse().ok());
    let sequence = place.ok_or_else(|| nonsense(&id))?;
    let mut fields = fields.into_iter();
    let (_, entry) = fields.next().ok_or_else(|| nonsense("an entry without anything"))?;
    let at = fields.next().map(|(_, at)| Answer::new(&at).number()).transpose()?;
    Ok(LogEntry { sequence, at: Timestamp(at.unwrap_or(sequence)), entry })
}

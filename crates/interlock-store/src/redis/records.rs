//! Versioned records.

use interlock_sync::store::{
    Applied, Change, Changed, Content, Expect, Fence, Key, Mutation, OpId, Outcome, Record, Refusal,
    StoreError, Timestamp, Version,
};

use super::{
    answer::{self, Answer, nonsense},
    span::millis,
    store::RedisStore,
};

pub(super) async fn get(store: &RedisStore, key: &Key) -> Result<Option<Record>, StoreError> {
    let row: Option<Vec<u8>> = store.link.ask(redis::cmd("GET").arg(store.keys.record(key))).await?;
    row.map(answer::record).transpose()
}

pub(super) async fn list(
    store: &RedisStore,
    prefix: &str,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<(Key, Record)>, StoreError> {
    let least = match after.map(Key::as_str).filter(|after| *after >= prefix) {
        Some(after) => format!("({after}"),
        None => format!("[{prefix}"),
    };
    // No text in UTF-8 has this byte, so everything that starts with the prefix sorts before it.
    let greatest = [b"(", prefix.as_bytes(), b"\xff"].concat();
    let mut call = store.scripts.list.prepare_invoke();
    call.key(store.keys.records()).arg(least).arg(greatest);
    call.arg(i64::try_from(limit).unwrap_or(i64::MAX)).arg(store.keys.record_prefix());
    let mut answer = store.link.run(&call).await?;
    let mut records = vec![];
    while !answer.is_read() {
        let key = answer.key()?;
        let record = answer.record()?.ok_or_else(|| nonsense("a record without anything"))?;
        records.push((key, record));
    }
    Ok(records)
}

pub(super) async fn mutate(store: &RedisStore, mutation: &Mutation) -> Result<Outcome, StoreError> {
    let (scripts, keys) = (&store.scripts, &store.keys);
    let (op, version) = (keys.op(&mutation.op), keys.version());
    let (remember, fence) = (millis(store.remember_ops), mutation.fence.as_ref());
    let fence = fence.map_or(String::new(), |check| check.fence.0.to_string());
    let mut call = match &mutation.change {
        Change::Put { .. } => &scripts.put,
        Change::Delete { .. } => &scripts.delete,
        Change::Add { .. } => &scripts.add,
        Change::Transfer { .. } => &scripts.transfer,
    }
    .prepare_invoke();
    call.arg(remember).arg(fence);
    match &mutation.change {
        Change::Put { key, expect, content } => {
            call.key(keys.record(key)).key(op).key(version).key(keys.records());
            call.arg(key.as_str()).arg(expected(*expect));
            match content {
                Content::Number(number) => call.arg("n").arg(*number),
                Content::Bytes(bytes) => call.arg("b").arg(bytes.as_slice()),
            };
        }
        Change::Delete { key, expect } => {
            call.key(keys.record(key)).key(op).key(version).key(keys.records());
            call.arg(key.as_str()).arg(expected(*expect));
        }
        Change::Add { key, delta, floor } => {
            call.key(op).key(version).key(keys.record(key));
            call.arg(key.as_str()).arg(*delta).arg(floor.map_or(String::new(), |floor| floor.to_string()));
        }
        Change::Transfer { from, to, amount, floor } => {
            call.key(op).key(version).key(keys.record(from)).key(keys.record(to));
            call.arg(from.as_str()).arg(to.as_str()).arg(*amount).arg(*floor);
        }
    }
    if let Some(check) = &mutation.fence {
        call.key(keys.lease(&check.lease));
    }
    outcome(store.link.run(&call).await?)
}

pub(super) async fn applied(store: &RedisStore, op: &OpId) -> Result<Option<Applied>, StoreError> {
    let report: Option<Vec<u8>> = store.link.ask(redis::cmd("GET").arg(store.keys.op(op))).await?;
    report.map(|report| read_lines(&report, true)).transpose()
}

fn expected(expect: Expect) -> String {
    match expect {
        Expect::Absent => "absent".into(),
        Expect::Present => "present".into(),
        Expect::Any => "any".into(),
        Expect::Version(Version(version)) => version.to_string(),
    }
}

fn outcome(mut answer: Answer) -> Result<Outcome, StoreError> {
    let refusal = match answer.word()?.as_str() {
        "applied" => {
            return read_report(&mut answer).map(Outcome::Applied);
        }
        "conflict" => Refusal::Conflict { key: answer.key()?, current: answer.record()? },
        "missing" => Refusal::Missing { key: answer.key()? },
        "short" => Refusal::Short { key: answer.key()?, available: answer.number()? },
        "overflow" => Refusal::Overflow { key: answer.key()? },
        "not-a-number" => Refusal::NotANumber { key: answer.key()? },
        "fenced" => Refusal::Fenced { current: answer.number_if_any()?.map(Fence) },
        other => return Err(nonsense(other)),
    };
    Ok(Outcome::Refused(refusal))
}

/// What an operation did, and before that whether it did so before.
pub(super) fn read_report(answer: &mut Answer) -> Result<Applied, StoreError> {
    let replayed = answer.word()? == "1";
    read_lines(&answer.bytes()?, replayed)
}

/// What is stored under an op-id: when, and then four lines per record.
fn read_lines(report: &[u8], replayed: bool) -> Result<Applied, StoreError> {
    let mut lines = Answer::of_lines(report);
    let at = Timestamp(lines.number()?);
    let mut changed = vec![];
    while !lines.is_read() {
        let key = lines.key()?;
        let from = lines.number_if_any()?.map(Version);
        let to = lines.number_if_any()?.map(Version);
        changed.push(Changed { key, from, to, number: lines.number_if_any()? });
    }
    Ok(Applied { at, changed, replayed })
}

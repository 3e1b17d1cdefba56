//! Versioned records.

use std::borrow::Cow;

use interlock_sync::{
    decide,
    store::{
        Applied, Change, Changed, Content, Expect, Fence, Key, Mutation, OpId, Outcome, Record, Refusal,
        StoreError, Timestamp, Version,
    },
};

use super::{
    answer::{self, Answer},
    call::{Call, digits, print},
    store::RedisStore,
};

pub(super) async fn get(store: &RedisStore, key: &Key) -> Result<Option<Record>, StoreError> {
    let row: Option<Vec<u8>> = store.link.ask(redis::cmd("GET").arg(store.keys.record(key))).await?;
    row.as_deref().map(answer::record).transpose()
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
    let call = Call::new(&store.scripts.list, [store.keys.records()])
        .arg(least)
        .arg(greatest)
        .arg(i64::try_from(limit).unwrap_or(i64::MAX))
        .arg(store.keys.record_prefix());
    let answer = store.link.text(&call).await?;
    let mut answer = Answer::new(&answer);
    let mut records = vec![];
    while answer.has_more() {
        let key = answer.key()?;
        records.push((key, answer::record(answer.bytes()?)?));
    }
    Ok(records)
}

pub(super) async fn mutate(store: &RedisStore, mutation: &Mutation) -> Result<Outcome, StoreError> {
    let (scripts, keys) = (&store.scripts, &store.keys);
    let (op, version) = (keys.op(mutation.op), keys.version());
    let lease = mutation.fence.as_ref().map(|check| keys.lease(&check.lease));
    let fingerprint = mutation.fingerprint().short();
    let mut call = match &mutation.change {
        Change::Put { key, expect, content } => {
            let names = [op, version, keys.record(key)].into_iter().chain(lease).chain([keys.records()]);
            let call = Call::new(&scripts.put, names)
                .shown(print(fingerprint))
                .arg(key.as_str())
                .arg(expected(*expect));
            match content {
                Content::Number(number) => call.shown(format_args!("n{number}")),
                Content::Bytes(bytes) => call.joined(b"b", bytes),
            }
        }
        Change::Delete { key, expect } => {
            let names = [op, version].into_iter().chain(lease).chain([keys.record(key), keys.records()]);
            Call::new(&scripts.delete, names)
                .shown(print(fingerprint))
                .arg(key.as_str())
                .arg(expected(*expect))
        }
        Change::Add { key, delta, floor } => {
            let names = [op, version, keys.record(key)].into_iter().chain(lease);
            let call = Call::new(&scripts.add, names).shown(print(fingerprint)).arg(key.as_str()).arg(*delta);
            // Only a debit has a floor.
            match floor.filter(|_| *delta < 0) {
                Some(floor) => call.arg(floor),
                None => call.arg(""),
            }
        }
        Change::Transfer { from, to, amount, floor } => {
            let names = [op, version, keys.record(from), keys.record(to)].into_iter().chain(lease);
            let call = Call::new(&scripts.transfer, names)
                .shown(print(fingerprint))
                .arg(from.as_str())
                .arg(to.as_str());
            call.arg(*amount).arg(*floor)
        }
    };
    if let Some(check) = &mutation.fence {
        call = call.shown(digits(check.fence.0));
    }
    outcome(mutation.op, fingerprint, &store.link.text(&call).await?)
}

pub(super) async fn applied(store: &RedisStore, op: &OpId) -> Result<Option<Applied>, StoreError> {
    let report: Option<Vec<u8>> = store.link.ask(redis::cmd("GET").arg(store.keys.op(*op))).await?;
    report.map(|report| Ok(read_report(KNOWN, &mut Answer::new(&report))?.done)).transpose()
}

fn expected(expect: Expect) -> Cow<'static, str> {
    match expect {
        Expect::Absent => "absent".into(),
        Expect::Present => "present".into(),
        Expect::Any => "any".into(),
        Expect::Version(Version(version)) => digits(version).to_string().into(),
    }
}

fn outcome(op: OpId, fingerprint: [u8; 16], answer: &[u8]) -> Result<Outcome, StoreError> {
    let mut answer = Answer::new(answer);
    let refusal = match answer.word()? {
        "conflict" => {
            let (key, row) = (answer.key()?, answer.rest()?);
            let current = Some(row).filter(|row| !row.is_empty()).map(answer::record).transpose()?;
            Refusal::Conflict { key, current }
        }
        "missing" => Refusal::Missing { key: answer.key()? },
        "short" => Refusal::Short { key: answer.key()?, available: answer.number()? },
        "overflow" => Refusal::Overflow { key: answer.key()? },
        "not-a-number" => Refusal::NotANumber { key: answer.key()? },
        "fenced" => Refusal::Fenced { current: answer.number_if_any()?.map(Fence) },
        word => return Ok(read_report(word, &mut answer)?.outcome(op, fingerprint)),
    };
    Ok(Outcome::Refused(refusal))
}

/// What stands before a report of something that was done earlier.
const KNOWN: &str = "known";

/// What an operation did, as it is stored under its id.
pub(super) struct Report {
    done: Applied,
    /// What it was; `None` in a report from before fingerprints were kept.
    fingerprint: Option<[u8; 16]>,
}

impl Report {
    /// The answer to whoever asks for this under the same id.
    pub(super) fn outcome(self, op: OpId, asked: [u8; 16]) -> Outcome {
        if self.done.replayed {
            decide::replay(op, self.done, self.fingerprint, asked)
        } else {
            Outcome::Applied(self.done)
        }
    }
}

/// A report: its fingerprint, when, and then four lines per record. The first line has been read: it is the first of the report, or says
/// that the operation was known.
pub(super) fn read_report(first: &str, answer: &mut Answer<'_>) -> Result<Report, StoreError> {
    let replayed = first == KNOWN;
    let first = if replayed { answer.word()? } else { first };
    let (fingerprint, at) = match first.len() {
        32 => {
            let print = u128::from_str_radix(first, 16).map_err(|_| answer::nonsense(first))?;
            (Some(print.to_be_bytes()), answer.word()?)
        }
        _ => (None, first),
    };
    let at = Timestamp(answer::number(at)?);
    let mut changed = vec![];
    while answer.has_more() {
        let key = answer.key()?;
        let from = answer.number_if_any()?.map(Version);
        let to = answer.number_if_any()?.map(Version);
        changed.push(Changed { key, from, to, number: answer.number_if_any()? });
    }
    Ok(Report { done: Applied { at, changed, replayed }, fingerprint })
}

//! Records: changes as statements, and the answers read back.

use std::sync::Arc;

use interlock_sync::store::{
    Applied, Change, Changed, Content, Expect, Fence, FenceCheck, Key, Mutation, OpId, Outcome, Record,
    Refusal, Version,
};
use tokio_postgres::{Row, types::Type};

use super::{
    fault::{Effect, Failure},
    fold::Gather,
    line::{Line, Param},
    wire,
};

/// The record, or `None`.
pub(super) async fn get(line: &Line, key: &Key) -> Result<Option<Record>, Failure> {
    let statement = "SELECT version, number, bytes FROM interlock.records WHERE key = $1";
    let rows = line.ask(Effect::Reads, statement, &[(&key.as_str(), Type::TEXT)]).await?;
    rows.first().map(|row| record(row, "version", "number")?.ok_or_else(empty)).transpose()
}

/// Records by prefix, in order of their keys.
pub(super) async fn list(
    line: &Line,
    prefix: &str,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<(Key, Record)>, Failure> {
    // No key has control characters, and PostgreSQL has no NUL to look for.
    if prefix.contains(char::is_control) {
        return Ok(vec![]);
    }
    let statement = "SELECT key, version, number, bytes FROM interlock.records \
        WHERE key >= $1 AND ($2::text IS NULL OR key < $2) AND ($3::text IS NULL OR key > $3) ORDER BY key LIMIT $4";
    let (behind, after) = (behind_all(prefix), after.map(Key::as_str));
    let limit = wire::count(limit as u64);
    let params: [Param<'_>; 4] =
        [(&prefix, Type::TEXT), (&behind, Type::TEXT), (&after, Type::TEXT), (&limit, Type::INT8)];
    let rows = line.ask(Effect::Reads, statement, &params).await?;
    let entry = |row| Ok((wire::key(row, "key")?, record(row, "version", "number")?.ok_or_else(empty)?));
    rows.iter().map(entry).collect()
}

/// What a mutation did, if it is remembered. One that is still on its way to the server is not: to be sure that it never will
/// be applied unnoticed, send it again.
pub(super) async fn applied(line: &Line, op: OpId) -> Result<Option<Applied>, Failure> {
    let statement = "SELECT * FROM interlock.ops WHERE op = $1 AND forget > interlock.clock()";
    let rows = line.ask(Effect::Reads, statement, &[(&&wire::id(op)[..], Type::BYTEA)]).await?;
    rows.first().map(|row| read_applied(row, true)).transpose()
}

/// Makes a change that is not an [`Addition`].
pub(super) async fn mutate(line: &Line, mutation: &Mutation, keep: i64) -> Result<Outcome, Failure> {
    let wish = Wish::of(&mutation.change);
    let (lease, fence) = guard(mutation.fence.as_ref());
    let statement = "SELECT * FROM interlock.mutate($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let row = line
        .ask_one(
            Effect::Changes,
            statement,
            &[
                (&wire::id_of(mutation.op, mutation.fingerprint().short()), Type::BYTEA),
                (&keep, Type::INT8),
                (&wish.verb, Type::TEXT),
                (&wish.first, Type::TEXT),
                (&wish.expect, Type::TEXT),
                (&wish.expected, Type::INT8),
                (&wish.number, Type::INT8),
                (&wish.bytes, Type::BYTEA),
                (&wish.second, Type::TEXT),
                (&wish.amount, Type::INT8),
                (&wish.floor, Type::INT8),
                (&lease, Type::TEXT),
                (&fence, Type::INT8),
            ],
        )
        .await?;
    outcome(mutation.op, &row)
}

/// Additions to one number under one lease or none: they are gathered.
#[derive(Debug)]
pub(super) struct Additions {
    pub(super) line: Arc<Line>,
    pub(super) keep: i64,
}

/// What an addition asks for besides its record.
#[derive(Debug)]
pub(super) struct Addition {
    pub(super) op: OpId,
    pub(super) fingerprint: [u8; 16],
    pub(super) delta: i64,
    pub(super) floor: Option<i64>,
}

impl Gather for Additions {
    type Key = (Key, Option<(Key, Fence)>);
    type Wish = Addition;
    type Answer = Outcome;

    fn size(_: &Addition) -> usize {
        size_of::<Addition>()
    }

    fn id(wish: &Addition) -> u128 {
        wish.op.0
    }

    async fn send(&self, (key, guard): &Self::Key, wishes: Vec<Addition>) -> Result<Vec<Outcome>, Failure> {
        let ids: Vec<_> = wishes.iter().map(|wish| wire::id_of(wish.op, wish.fingerprint)).collect();
        let deltas: Vec<_> = wishes.iter().map(|wish| wish.delta).collect();
        // A credit is never refused.
        let floors: Vec<_> = wishes.iter().map(|wish| wish.floor.filter(|_| wish.delta < 0)).collect();
        let (lease, fence) =
            guard.as_ref().map(|(lease, fence)| (lease.as_str(), wire::token(fence.0))).unzip();
        let statement = "SELECT * FROM interlock.add_many($1, $2, $3, $4, $5, $6, $7)";
        let rows = self
            .line
            .ask(
                Effect::Changes,
                statement,
                &[
                    (&key.as_str(), Type::TEXT),
                    (&ids, Type::BYTEA_ARRAY),
                    (&deltas, Type::INT8_ARRAY),
                    (&floors, Type::INT8_ARRAY),
                    (&self.keep, Type::INT8),
                    (&lease, Type::TEXT),
                    (&fence, Type::INT8),
                ],
            )
            .await?;
        rows.iter().zip(&wishes).map(|(row, wish)| outcome(wish.op, row)).collect()
    }
}

/// A change as the parameters of `mutate`; what it does not have is null.
#[derive(Default)]
struct Wish<'a> {
    verb: &'static str,
    first: &'a str,
    expect: Option<&'static str>,
    expected: Option<i64>,
    number: Option<i64>,
    bytes: Option<&'a [u8]>,
    second: Option<&'a str>,
    amount: Option<i64>,
    floor: Option<i64>,
}

impl<'a> Wish<'a> {
    fn of(change: &'a Change) -> Self {
        match change {
            Change::Put { key, expect, content } => {
                let (number, bytes) = match content {
                    Content::Number(number) => (Some(*number), None),
                    Content::Bytes(bytes) => (None, Some(bytes.as_slice())),
                };
                Self { number, bytes, ..Self::expecting("put", key, *expect) }
            }
            Change::Delete { key, expect } => Self::expecting("delete", key, *expect),
            Change::Add { key, delta, floor } => Self {
                verb: "add",
                first: key.as_str(),
                amount: Some(*delta),
                floor: *floor,
                ..Self::default()
            },
            Change::Transfer { from, to, amount, floor } => Self {
                verb: "transfer",
                first: from.as_str(),
                second: Some(to.as_str()),
                amount: Some(*amount),
                floor: Some(*floor),
                ..Self::default()
            },
        }
    }

    fn expecting(verb: &'static str, key: &'a Key, expect: Expect) -> Self {
        let (expect, expected) = match expect {
            Expect::Absent => ("absent", None),
            Expect::Version(version) => ("version", Some(wire::token(version.0))),
            Expect::Present => ("present", None),
            Expect::Any => ("any", None),
        };
        Self { verb, first: key.as_str(), expect: Some(expect), expected, ..Self::default() }
    }
}

fn guard(check: Option<&FenceCheck>) -> (Option<&str>, Option<i64>) {
    check.map(|check| (check.lease.as_str(), wire::token(check.fence.0))).unzip()
}

pub(super) fn outcome(op: OpId, row: &Row) -> Result<Outcome, Failure> {
    let key = || wire::key(row, "key_a");
    let refusal = match wire::column(row, "verdict")? {
        "applied" => return read_applied(row, false).map(Outcome::Applied),
        "replayed" => return read_applied(row, true).map(Outcome::Applied),
        "conflict" => Refusal::Conflict { key: key()?, current: record(row, "from_a", "number_a")? },
        "missing" => Refusal::Missing { key: key()? },
        "short" => Refusal::Short { key: key()?, available: wire::column(row, "number_a")? },
        "overflow" => Refusal::Overflow { key: key()? },
        "not-a-number" => Refusal::NotANumber { key: key()? },
        "mismatch" => Refusal::Mismatch { op },
        "fenced" => Refusal::Fenced { current: wire::unsigned_or_null(row, "fence")?.map(Fence) },
        _ => return Err(Failure::nonsense("PostgreSQL answered a mutation with a word that is not known")),
    };
    Ok(Outcome::Refused(refusal))
}

fn read_applied(row: &Row, replayed: bool) -> Result<Applied, Failure> {
    let changed = |key: &str, [from, to, number]: [&str; 3]| {
        Ok(Changed {
            key: wire::to_key(key)?,
            from: wire::unsigned_or_null(row, from)?.map(Version),
            to: wire::unsigned_or_null(row, to)?.map(Version),
            number: wire::column(row, number)?,
        })
    };
    let mut all = vec![changed(wire::column(row, "key_a")?, ["from_a", "to_a", "number_a"])?];
    if let Some(second) = wire::column::<Option<&str>>(row, "key_b")? {
        all.push(changed(second, ["from_b", "to_b", "number_b"])?);
    }
    Ok(Applied { at: wire::moment(row, "at")?, changed: all, replayed })
}

/// The record in a row, if it has one.
fn record(row: &Row, version: &str, number: &str) -> Result<Option<Record>, Failure> {
    let Some(version) = wire::unsigned_or_null(row, version)? else { return Ok(None) };
    let content = match wire::column::<Option<i64>>(row, number)? {
        Some(number) => Content::Number(number),
        None => Content::Bytes(wire::column::<Option<Vec<u8>>>(row, "bytes")?.ok_or_else(empty)?),
    };
    Ok(Some(Record { version: Version(version), content }))
}

fn empty() -> Failure {
    Failure::nonsense("PostgreSQL holds a record with nothing in it")
}

/// The least text behind all that start with a prefix, in the order of their bytes, which is that of their characters; `None`
/// if none is.
pub(super) fn behind_all(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The range leaves out the surrogates, which are no characters.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_prefix_is_behind_all_that_start_with_it() {
        assert_eq!(behind_all("a").as_deref(), Some("b"));
        assert_eq!(behind_all("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(behind_all("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(behind_all("\u{10ffff}"), None);
        assert_eq!(behind_all(""), None);
        for prefix in ["order:", "ä", "z\u{10ffff}"] {
            let behind = behind_all(prefix).unwrap();
            assert!(format!("{prefix}\u{10ffff}\u{10ffff}").as_bytes() < behind.as_bytes(), "{prefix}");
        }
    }
}

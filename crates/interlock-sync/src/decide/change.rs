//! Whether a change may be made, and what it writes.

use crate::store::{Applied, Change, Content, Expect, Key, OpId, Outcome, Record, Refusal};

/// What becomes of one record: new content, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEdit {
    /// Which record.
    pub key: Key,
    /// What it was.
    pub before: Option<Record>,
    /// What it shall hold; `None` removes it.
    pub after: Option<Content>,
}

/// The answer to an operation whose id was applied before: what it did then, if it is the same. What was remembered without a fingerprint,
/// by a release that kept none, counts as the same.
#[must_use]
pub fn replay(op: OpId, done: Applied, stored: Option<[u8; 16]>, asked: [u8; 16]) -> Outcome {
    if stored.is_none_or(|stored| stored == asked) {
        Outcome::Applied(Applied { replayed: true, ..done })
    } else {
        Outcome::Refused(Refusal::Mismatch { op })
    }
}

/// The edits of a change, given the records as they are.
///
/// # Errors
///
/// The refusal, if the change may not be made.
pub fn change(change: &Change, get: impl Fn(&Key) -> Option<Record>) -> Result<Vec<RecordEdit>, Refusal> {
    match change {
        Change::Put { key, expect, content } => {
            let before = expected(key, *expect, get(key))?;
            Ok(vec![RecordEdit { key: key.clone(), before, after: Some(content.clone()) }])
        }
        Change::Delete { key, expect } => {
            let before = expected(key, *expect, get(key))?;
            if before.is_none() {
                return Err(Refusal::Conflict { key: key.clone(), current: None });
            }
            Ok(vec![RecordEdit { key: key.clone(), before, after: None }])
        }
        Change::Add { key, delta, floor } => {
            let floor = if *delta < 0 { *floor } else { None };
            Ok(vec![added(key, get(key), *delta, floor)?])
        }
        Change::Transfer { from, to, amount, floor } => {
            if *amount <= 0 {
                return Err(Refusal::NotANumber { key: from.clone() });
            }
            let debit = added(from, get(from), -*amount, Some(*floor))?;
            if from == to {
                let unchanged = debit.before.as_ref().map(|record| record.content.clone());
                return Ok(vec![RecordEdit { after: unchanged, ..debit }]);
            }
            let credit = added(to, get(to), *amount, None)?;
            Ok(vec![debit, credit])
        }
    }
}

fn expected(key: &Key, expect: Expect, current: Option<Record>) -> Result<Option<Record>, Refusal> {
    let met = match (expect, &current) {
        (Expect::Any, _) | (Expect::Absent, None) | (Expect::Present, Some(_)) => true,
        (Expect::Version(version), Some(record)) => record.version == version,
        _ => false,
    };
    if met { Ok(current) } else { Err(Refusal::Conflict { key: key.clone(), current }) }
}

fn added(key: &Key, before: Option<Record>, delta: i64, floor: Option<i64>) -> Result<RecordEdit, Refusal> {
    let Some(record) = before else { return Err(Refusal::Missing { key: key.clone() }) };
    let Content::Number(available) = record.content else {
        return Err(Refusal::NotANumber { key: key.clone() });
    };
    let Some(number) = available.checked_add(delta) else {
        return Err(Refusal::Overflow { key: key.clone() });
    };
    if floor.is_some_and(|floor| number < floor) {
        return Err(Refusal::Short { key: key.clone(), available });
    }
    Ok(RecordEdit { key: key.clone(), before: Some(record), after: Some(Content::Number(number)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Version;

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    /// A store with `a` at 10, `b` at the greatest number and `text`.
    fn get(key: &Key) -> Option<Record> {
        let content = match key.as_str() {
            "a" => Content::Number(10),
            "b" => Content::Number(i64::MAX),
            "text" => Content::Bytes(b"x".to_vec()),
            _ => return None,
        };
        Some(Record { version: Version(7), content })
    }

    fn numbers(wanted: &Change) -> Result<Vec<i64>, Refusal> {
        let number = |edit: RecordEdit| match edit.after {
            Some(Content::Number(number)) => number,
            other => panic!("{other:?} is no number"),
        };
        change(wanted, get).map(|edits| edits.into_iter().map(number).collect())
    }

    #[test]
    fn a_debit_stops_at_its_floor_and_a_credit_does_not() {
        let add = |delta, floor| Change::Add { key: key("a"), delta, floor };
        assert_eq!(numbers(&add(-10, Some(0))), Ok(vec![0]));
        assert_eq!(numbers(&add(-11, Some(0))), Err(Refusal::Short { key: key("a"), available: 10 }));
        assert_eq!(numbers(&add(-11, None)), Ok(vec![-1]));
        assert_eq!(numbers(&add(1, Some(100))), Ok(vec![11]));
        assert_eq!(numbers(&add(0, Some(100))), Ok(vec![10]));
    }

    #[test]
    fn a_transfer_changes_both_or_neither() {
        let transfer = |from: &str, to: &str, amount| Change::Transfer {
            from: key(from),
            to: key(to),
            amount,
            floor: 0,
        };
        assert_eq!(numbers(&transfer("a", "b", 10)), Err(Refusal::Overflow { key: key("b") }));
        assert_eq!(numbers(&transfer("b", "a", 5)), Ok(vec![i64::MAX - 5, 15]));
        assert_eq!(numbers(&transfer("a", "nobody", 5)), Err(Refusal::Missing { key: key("nobody") }));
        assert_eq!(numbers(&transfer("a", "text", 5)), Err(Refusal::NotANumber { key: key("text") }));
        assert_eq!(numbers(&transfer("a", "a", 5)), Ok(vec![10]));
        assert_eq!(numbers(&transfer("a", "a", 11)), Err(Refusal::Short { key: key("a"), available: 10 }));
        for amount in [0, -5, i64::MIN] {
            assert_eq!(numbers(&transfer("a", "b", amount)), Err(Refusal::NotANumber { key: key("a") }));
        }
    }

    #[test]
    fn a_put_and_a_delete_look_at_what_is_there() {
        let put = |name: &str, expect| {
            change(&Change::Put { key: key(name), expect, content: Content::Number(1) }, get)
        };
        let delete = |name: &str, expect| change(&Change::Delete { key: key(name), expect }, get);
        for expect in [Expect::Any, Expect::Present, Expect::Version(Version(7))] {
            assert!(put("a", expect).is_ok() && delete("a", expect).is_ok(), "{expect:?}");
        }
        for expect in [Expect::Absent, Expect::Version(Version(6))] {
            let conflict = Refusal::Conflict { key: key("a"), current: get(&key("a")) };
            assert_eq!(
                (put("a", expect), delete("a", expect)),
                (Err(conflict.clone()), Err(conflict)),
                "{expect:?}"
            );
        }
        assert!(put("new", Expect::Absent).is_ok() && put("new", Expect::Any).is_ok());
        assert!(put("new", Expect::Present).is_err());
        assert!([Expect::Any, Expect::Absent].into_iter().all(|expect| delete("new", expect).is_err()));
    }
}

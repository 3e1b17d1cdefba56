//! What a script returned, read part by part. A part that makes no sense means that the store is broken.
//!
//! An answer is a number, or one text of several lines, and not a list, because the driver takes longer over each part of a list than the
//! server over most commands.

use std::str::{self, FromStr};

use interlock_sync::store::{Content, Key, Record, StoreError, Version};
use redis::Value;

/// What a script returned.
#[derive(Debug)]
pub(super) enum Said {
    /// What it mostly says.
    Number(i64),
    /// What takes more words.
    Text(Vec<u8>),
}

impl Said {
    pub(super) fn new(value: Value) -> Result<Self, StoreError> {
        match value {
            Value::Int(number) => Ok(Self::Number(number)),
            Value::BulkString(text) => Ok(Self::Text(text)),
            other => Err(nonsense(&format!("{other:?}"))),
        }
    }

    pub(super) fn text(self) -> Result<Vec<u8>, StoreError> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Number(number) => Err(nonsense(&number.to_string())),
        }
    }

    /// Whether it was done.
    pub(super) fn yes(&self) -> Result<bool, StoreError> {
        match self {
            Self::Number(0) => Ok(false),
            Self::Number(1) => Ok(true),
            other => Err(nonsense(&format!("{other:?}"))),
        }
    }
}

/// A number that cannot be negative.
pub(super) fn whole(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| nonsense(&number.to_string()))
}

/// What of an answer has not been read yet.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    /// `None` behind the last line, which is not the same as an empty line.
    rest: Option<&'a [u8]>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { rest: Some(text) }
    }

    /// Whether there is anything left but an empty line.
    pub(super) fn has_more(&self) -> bool {
        self.rest.is_some_and(|rest| !rest.is_empty())
    }

    /// Everything that is left.
    pub(super) fn rest(&mut self) -> Result<&'a [u8], StoreError> {
        self.rest.take().ok_or_else(|| nonsense("a part is missing"))
    }

    /// The next line.
    pub(super) fn word(&mut self) -> Result<&'a str, StoreError> {
        let rest = self.rest()?;
        let mut parts = rest.splitn(2, |byte| *byte == b'\n');
        let line = parts.next().unwrap_or_default();
        self.rest = parts.next();
        str::from_utf8(line).map_err(|error| StoreError::broken(NONSENSE, error))
    }

    pub(super) fn key(&mut self) -> Result<Key, StoreError> {
        Key::new(self.word()?).map_err(|error| StoreError::broken(NONSENSE, error))
    }

    pub(super) fn number<N: FromStr>(&mut self) -> Result<N, StoreError> {
        number(self.word()?)
    }

    /// A number, or nothing where an empty line stands for none.
    pub(super) fn number_if_any<N: FromStr>(&mut self) -> Result<Option<N>, StoreError> {
        match self.word()? {
            "" => Ok(None),
            digits => number(digits).map(Some),
        }
    }

    /// What may hold any byte: its length on a line of its own, and then itself.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], StoreError> {
        let length = self.number()?;
        let (bytes, rest) = self.rest()?.split_at_checked(length).ok_or_else(|| nonsense("it is cut off"))?;
        self.rest = Some(rest);
        Ok(bytes)
    }
}

/// A number that was read as text.
pub(super) fn number<N: FromStr>(digits: &str) -> Result<N, StoreError> {
    digits.parse().map_err(|_| nonsense(digits))
}

/// A record as it is stored: its version in 16 digits, `n` or `b`, and its content.
pub(super) fn record(row: &[u8]) -> Result<Record, StoreError> {
    let (version, rest) = row.split_at_checked(16).ok_or_else(|| nonsense("a record without a version"))?;
    let version = Version(Answer::new(version).number()?);
    let content = match rest.split_first() {
        Some((b'n', digits)) => Content::Number(Answer::new(digits).number()?),
        Some((b'b', bytes)) => Content::Bytes(bytes.to_vec()),
        _ => return Err(nonsense("a record that is neither a number nor bytes")),
    };
    Ok(Record { version, content })
}

const NONSENSE: &str = "an answer of Redis makes no sense";

/// An answer that no script of ours gives.
pub(super) fn nonsense(what: &str) -> StoreError {
    StoreError::Broken { reason: format!("{NONSENSE}: {what:?}"), source: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_line_by_line_and_an_empty_line_is_one() {
        let mut answer = Answer::new(b"granted\n7\n\n");
        assert_eq!(answer.word().unwrap(), "granted");
        assert_eq!(answer.number::<u64>().unwrap(), 7);
        assert_eq!(answer.number_if_any::<u64>().unwrap(), None);
        assert!(!answer.has_more());
        assert_eq!(answer.word().unwrap(), "");
        assert!(answer.word().is_err(), "behind the last line there is none");
    }

    #[test]
    fn bytes_may_hold_what_ends_a_line_and_are_followed_by_more() {
        let mut answer = Answer::new(b"4\n\n\xff\n\nyes");
        assert_eq!(answer.bytes().unwrap(), b"\n\xff\n\n");
        assert_eq!(answer.word().unwrap(), "yes");
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        assert!(Answer::new(b"9\nshort").bytes().is_err());
        assert!(Answer::new(b"-1\nshort").bytes().is_err());
        assert!(Answer::new(b"\xff").word().is_err());
        assert!(Said::new(Value::Nil).is_err());
        assert!(Said::Number(1).yes().unwrap() && !Said::Number(0).yes().unwrap());
        assert!(Said::Number(2).yes().is_err() && Said::Text(b"perhaps".to_vec()).yes().is_err());
        assert!(Said::Number(1).text().is_err() && whole(-1).is_err());
        assert!(Answer::new(b"").number::<u64>().is_err());
        assert!(record(b"0000000000000007n5").is_ok());
        for row in
            ["", "7n5", "0000000000000007", "0000000000000007n", "0000000000000007x5", "000000000000000sn5"]
        {
            assert!(record(row.as_bytes()).is_err(), "{row:?}");
        }
    }
}

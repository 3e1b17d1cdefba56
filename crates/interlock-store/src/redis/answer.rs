//! What a script returned, read part by part. A part that makes no sense means that the store is broken.

use std::{str::FromStr, vec};

use interlock_sync::store::{Content, Key, Record, StoreError, Version};

/// The parts of an answer that have not been read yet.
#[derive(Debug)]
pub(super) struct Answer {
    parts: vec::IntoIter<Vec<u8>>,
}

impl Answer {
    pub(super) fn new(parts: Vec<Vec<u8>>) -> Self {
        Self { parts: parts.into_iter() }
    }

    /// The parts of a text that was written line by line.
    pub(super) fn of_lines(text: &[u8]) -> Self {
        Self::new(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }

    /// Whether everything has been read.
    pub(super) fn is_read(&self) -> bool {
        self.parts.as_slice().is_empty()
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        self.parts.next().ok_or_else(|| nonsense("a part is missing"))
    }

    pub(super) fn word(&mut self) -> Result<String, StoreError> {
        String::from_utf8(self.bytes()?).map_err(|error| StoreError::broken(NONSENSE, error))
    }

    pub(super) fn key(&mut self) -> Result<Key, StoreError> {
        Key::new(self.word()?).map_err(|error| StoreError::broken(NONSENSE, error))
    }

    pub(super) fn number<N: FromStr>(&mut self) -> Result<N, StoreError> {
        self.number_if_any()?.ok_or_else(|| nonsense("a number is missing"))
    }

    /// A number, or nothing where an empty part stands for none.
    pub(super) fn number_if_any<N: FromStr>(&mut self) -> Result<Option<N>, StoreError> {
        match self.word()? {
            empty if empty.is_empty() => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| nonsense(&digits)),
        }
    }

    /// Whether it was done.
    pub(super) fn yes(&mut self) -> Result<bool, StoreError> {
        match self.word()?.as_str() {
            "yes" => Ok(true),
            "no" => Ok(false),
            other => Err(nonsense(other)),
        }
    }

    /// A record, or nothing where an empty part stands for none.
    pub(super) fn record(&mut self) -> Result<Option<Record>, StoreError> {
        let row = self.bytes()?;
        if row.is_empty() { Ok(None) } else { record(row).map(Some) }
    }
}

/// A record as it is stored: its version, a space, `n` or `b`, and its content.
pub(super) fn record(mut row: Vec<u8>) -> Result<Record, StoreError> {
    let length = row.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (version, rest) = row.split_at(length);
    let kind = rest.first_chunk().copied();
    let version = Version(Answer::new(vec![version.to_vec()]).number()?);
    row.drain(..row.len().min(length + 2));
    let content = match kind.as_ref() {
        Some(b" n") => Content::Number(Answer::new(vec![row]).number()?),
        Some(b" b") => Content::Bytes(row),
        _ => return Err(nonsense("a record that is neither a number nor bytes")),
    };
    Ok(Record { version, content })
}

const NONSENSE: &str = "an answer of Redis makes no sense";

/// An answer that no script of ours gives.
pub(super) fn nonsense(what: &str) -> StoreError {
    StoreError::Broken { reason: format!("{NONSENSE}: {what:?}"), source: None }
}

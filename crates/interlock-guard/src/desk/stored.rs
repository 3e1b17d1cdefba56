//! The answer of a call as it is kept for those that send it again.
//!
//! A result is a result, also if it says `isError`: the tool ran, and may have done half of its work, so a retry is told the same. So is a
//! JSON-RPC error, except those by which a server says that it did not understand the request: nothing ran, and whoever repairs its
//! arguments may come again under the same key.

use bytes::Bytes;
use interlock_sync::store::Ending;
use serde::Deserialize;

use super::Carried;
use crate::call::Answer;

/// The largest answer that is kept. Of a larger one only that it happened is known.
const LARGEST: usize = 1 << 20;

const RESULT: u8 = b'r';
const ERROR: u8 = b'e';
const TOO_LARGE: u8 = b'-';

/// The codes of JSON-RPC for a request that was not understood: no JSON, no request, no such method, wrong parameters.
const NOT_UNDERSTOOD: [i64; 4] = [-32700, -32600, -32601, -32602];

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// It took effect as it should.
    Well,
    /// It ran, and says that it went wrong: it may have changed something.
    Badly,
    /// It has not run, or will run when it comes again.
    Nothing,
    /// Nobody knows.
    Unknown,
}

impl Came {
    /// What to make of an answer.
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Result { is_error: false, .. } => Self::Well,
            Answer::Result { is_error: true, .. } => Self::Badly,
            Answer::Asks { .. } => Self::Nothing,
            Answer::Error { error } if is_not_understood(error) => Self::Nothing,
            Answer::Error { .. } => Self::Badly,
            Answer::Lost { may_have_run: true, .. } | Answer::Cancelled => Self::Unknown,
            Answer::Lost { may_have_run: false, .. } => Self::Nothing,
        }
    }

    /// How the effect of the call ended; `None` if nobody knows. What came to nothing is told to nobody.
    pub(super) fn ending(self, answer: &Answer) -> Option<Ending> {
        match self {
            Self::Well | Self::Badly => Some(Ending::Completed(kept(answer))),
            Self::Nothing => Some(Ending::Failed(Vec::new())),
            Self::Unknown => None,
        }
    }
}

fn kept(answer: &Answer) -> Vec<u8> {
    let (kind, text) = match answer {
        Answer::Result { result, .. } | Answer::Asks { result } => (RESULT, result),
        Answer::Error { error } => (ERROR, error),
        Answer::Lost { .. } | Answer::Cancelled => return vec![TOO_LARGE],
    };
    if text.len() > LARGEST {
        return vec![TOO_LARGE];
    }
    let mut kept = Vec::with_capacity(text.len() + 1);
    kept.push(kind);
    kept.extend_from_slice(text);
    kept
}

/// The answer that was kept; `None` if it cannot be told.
pub(super) fn told(kept: Vec<u8>) -> Option<Carried> {
    let mut kept = Bytes::from(kept);
    let kind = *kept.first()?;
    let text = kept.split_off(1);
    match kind {
        RESULT => Some(Carried::Again(text)),
        ERROR => Some(Carried::Answer(Answer::Error { error: text })),
        _ => None,
    }
}

fn is_not_understood(error: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Code {
        code: i64,
    }
    serde_json::from_slice::<Code>(error).is_ok_and(|error| NOT_UNDERSTOOD.contains(&error.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &'static str) -> Answer {
        Answer::Error { error: Bytes::from_static(text.as_bytes()) }
    }

    fn result(text: impl Into<Bytes>, is_error: bool) -> Answer {
        Answer::Result { result: text.into(), is_error, task: None }
    }

    #[test]
    fn what_is_kept_is_told_as_it_was() {
        for (answer, expected) in
            [(result("{}", false), "Again(b\"{}\")"), (error("{}"), "Error { error: b\"{}\" }")]
        {
            let Some(Ending::Completed(kept)) = Came::of(&answer).ending(&answer) else {
                panic!("it has an ending")
            };
            let told = format!("{:?}", told(kept).unwrap());
            assert!(told.contains(expected), "{told}");
        }
        assert!(told(vec![]).is_none() && told(kept(&result(vec![b' '; LARGEST + 1], false))).is_none());
    }

    #[test]
    fn a_request_that_was_not_understood_has_not_run() {
        assert_eq!(Came::of(&error(r#"{"code": -32602, "message": "unknown tool"}"#)), Came::Nothing);
        for text in [r#"{"code": -32603, "message": "broke"}"#, r#"{"message": "no code"}"#, "[[[", ""] {
            assert_eq!(Came::of(&error(text)), Came::Badly, "{text}");
        }
        assert_eq!(Came::of(&result("{}", true)), Came::Badly);
    }
}

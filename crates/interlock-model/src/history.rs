//! What happened when calls ran: who asked what, when it was sent, when and how it was answered.
//!
//! Times are offsets that whoever ran the calls has measured; there is no clock here.

use std::{fmt, time::Duration};

use serde_json::Value;

/// Time since the first call of the history was sent.
pub type Moment = Duration;

/// The calls of one run, and what was seen of the server's input and output meanwhile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The calls, in the order they were sent.
    pub calls: Vec<CallRecord>,
    /// What the calls did underneath, in time order, where that could be seen.
    pub ticks: Vec<IoTick>,
}

/// One call, from its request to its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// When the last byte of the request left.
    pub sent: Moment,
    /// What came back.
    pub answer: Answer,
}

/// How a call was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The tool's result.
    Result {
        /// When it was complete.
        at: Moment,
        /// What it says.
        value: Value,
    },
    /// The tool's refusal, or an error of the protocol.
    Error {
        /// When it was complete.
        at: Moment,
        /// What it says.
        value: Value,
    },
    /// None: the process is gone, the deadline passed.
    Missing {
        /// Why.
        reason: String,
    },
}

/// One operation of a call underneath: where the stale window opens and closes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoTick {
    /// The call, as an index into [`History::calls`]; `None` where it could not be told.
    pub call: Option<usize>,
    /// When.
    pub at: Moment,
    /// What kind of operation.
    pub kind: TickKind,
    /// On what: a path, a key, a statement.
    pub on: String,
}

/// The kind of an [`IoTick`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TickKind {
    /// State came in.
    Read,
    /// State went out.
    Write,
    /// The call waited.
    Wait,
}

impl Answer {
    /// When the answer was complete; `None` if there is none.
    #[must_use]
    pub fn at(&self) -> Option<Moment> {
        match self {
            Self::Result { at, .. } | Self::Error { at, .. } => Some(*at),
            Self::Missing { .. } => None,
        }
    }
}

impl History {
    /// Whether one call was answered before another was sent, so that every legal order must keep them in that order.
    #[must_use]
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        match (self.calls.get(first), self.calls.get(second)) {
            (Some(first), Some(second)) => first.answer.at().is_some_and(|at| at < second.sent),
            _ => false,
        }
    }

    /// How long it took, from the first request to the last answer.
    #[must_use]
    pub fn span(&self) -> Moment {
        let sent = self.calls.iter().map(|call| call.sent).min().unwrap_or_default();
        let answered = self.calls.iter().filter_map(|call| call.answer.at()).max().unwrap_or_default();
        answered.saturating_sub(sent)
    }
}

impl fmt::Display for TickKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Wait => "wait",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(sent: u64, answered: Option<u64>) -> CallRecord {
        CallRecord {
            tool: "add_note".into(),
            arguments: Value::Null,
            sent: Moment::from_millis(sent),
            answer: match answered {
                Some(at) => Answer::Result { at: Moment::from_millis(at), value: Value::Null },
                None => Answer::Missing { reason: "the process is gone".into() },
            },
        }
    }

    #[test]
    fn only_a_call_that_was_answered_before_the_other_was_sent_precedes_it() {
        let calls = vec![call(0, Some(5)), call(3, Some(9)), call(6, None), call(20, Some(21))];
        let history = History { calls, ticks: vec![] };
        assert!(!history.precedes(0, 1), "they overlap");
        assert!(history.precedes(0, 2));
        assert!(!history.precedes(2, 0));
        assert!(!history.precedes(2, 3), "an unanswered call may still take effect later");
        assert!(!history.precedes(0, 99), "there is no such call");
    }
}
